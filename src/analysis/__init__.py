"""A reproducible study of LLM inference telemetry.

Everything flows one way: DATA folder -> sources -> store -> findings (with estimates) -> charts -> notebooks -> report.
Analysts start from `Study`.
"""
