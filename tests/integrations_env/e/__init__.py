"""In the environment with crewAI, which needs an older MCP than anything else. It is outside CI."""
