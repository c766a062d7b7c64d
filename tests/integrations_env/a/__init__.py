"""In the environment with LangChain, LlamaIndex, Pydantic AI, Haystack and litellm, which needs openai 2."""
