"""Cloud Tasks on one machine: the same gRPC service, durable in Postgres.

service (gRPC) → store (SQL) ← dispatcher → delivery (HTTP); the rules (retry_rules, pacing, validation)
are pure. Tasks live in the schema `task_emulator`, outside the product's migrations; queues are settings.
"""
