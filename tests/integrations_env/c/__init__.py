"""In the environment with Google's ADK, Strands, Microsoft's Agent Framework, deepagents and LangGraph."""
