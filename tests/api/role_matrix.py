"""Who may call what: the least role of every route, written down a second time on purpose.

A route that is missing here, or whose declaration says another role, fails the tests: no role changes by
accident. PUBLIC routes answer callers without credentials.
"""

PUBLIC, VIEWER, OPERATOR, ADMIN = "public", "viewer", "operator", "admin"

EXPECTED = {
    "GET /api/client-logs/<uuid:uuid>/logs": VIEWER,
    "GET /api/client-logs/summary": VIEWER,
    "GET /api/client-logs/recent-errors": VIEWER,
    "GET /api/client-logs/test": VIEWER,
    "GET /api/clients": VIEWER,
    "GET /api/clients/crashed": VIEWER,
    "GET /api/clients/service_failed": VIEWER,
    "GET /api/clients/service_failed/acknowledged": VIEWER,
    "GET /api/clients/<uuid:uuid>": VIEWER,
    "PATCH /api/clients/<uuid:uuid>": OPERATOR,
    "DELETE /api/clients/<uuid:uuid>": ADMIN,
    "POST /api/clients/<uuid:uuid>/clear_service_failed": OPERATOR,
    "POST /api/clients/<uuid:uuid>/commands": OPERATOR,
    "GET /api/clients/<uuid:uuid>/commands": VIEWER,
    "GET /api/commands/<uuid:command_id>": VIEWER,
    "POST /api/commands/<uuid:command_id>/cancel": OPERATOR,
    "GET /api/clients/<uuid:uuid>/recovery": VIEWER,
    "GET /api/recovery/events": VIEWER,
    "GET /api/monitoring/overview": VIEWER,
    "POST /api/event-media": OPERATOR,
    "GET /api/event-media": VIEWER,
    "GET /api/event-media/<id:media_id>": VIEWER,
    "GET /api/event-media/<id:media_id>/content": VIEWER,
    "POST /api/conversions/<id:media_id>/pdf": OPERATOR,
    "GET /api/conversions/<id:media_id>/status": VIEWER,
    "GET /api/conversions": VIEWER,
    "GET /api/files/converted/<path:path>": VIEWER,
    "POST /api/session": PUBLIC,
    "GET /api/session": VIEWER,
    "DELETE /api/session": VIEWER,
    "POST /api/users/me/password": VIEWER,
    "GET /api/tokens": ADMIN,
    "POST /api/tokens": ADMIN,
    "DELETE /api/tokens/<token_id>": ADMIN,
    "POST /api/clients/<uuid:uuid>/enrolment": ADMIN,
    "DELETE /api/clients/<uuid:uuid>/enrolment": ADMIN,
    "POST /api/enroll": PUBLIC,
    "GET /api/audit": ADMIN,
    "GET /api/dead-letters": OPERATOR,
    "GET /api/settings": VIEWER,
    "GET /api/health/live": PUBLIC,
    "GET /api/health/ready": PUBLIC,
    "GET /api/openapi.json": VIEWER,
    "GET /api/docs": VIEWER,
}
