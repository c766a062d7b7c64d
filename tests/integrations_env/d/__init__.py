"""In the environment with LiteLLM and its proxy. It is outside CI."""
