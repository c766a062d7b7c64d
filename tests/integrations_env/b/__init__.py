"""In the environment with the OpenAI Agents SDK, which needs openai 3, and google-genai."""
