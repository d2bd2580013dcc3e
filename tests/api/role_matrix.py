"""The least role of every route, listed a second time on purpose.

A route that is missing here, or that declares another role, fails the tests, so no role changes by accident. PUBLIC
routes answer callers without credentials.
"""

PUBLIC, VIEWER, OPERATOR, ADMIN = "public", "viewer", "operator", "admin"

EXPECTED = {
    "GET /api/client-logs/<uuid:uuid>/logs": VIEWER,
    "GET /api/client-logs/summary": VIEWER,
    "GET /api/client-logs/recent-errors": VIEWER,
    "GET /api/client-logs/feed": VIEWER,
    "GET /api/client-logs/test": VIEWER,
    "GET /api/clients": VIEWER,
    "PATCH /api/clients": OPERATOR,
    "GET /api/clients/crashed": VIEWER,
    "GET /api/clients/service_failed": VIEWER,
    "GET /api/clients/service_failed/acknowledged": VIEWER,
    "POST /api/clients/service_failed/mended": OPERATOR,
    "POST /api/clients/<uuid:uuid>/service_failed/take": OPERATOR,
    "POST /api/clients/<uuid:uuid>/service_failed/give_back": OPERATOR,
    "GET /api/clients/unsteady": VIEWER,
    "GET /api/clients/<uuid:uuid>": VIEWER,
    "PATCH /api/clients/<uuid:uuid>": OPERATOR,
    "DELETE /api/clients/<uuid:uuid>": ADMIN,
    "POST /api/clients/<uuid:uuid>/clear_service_failed": OPERATOR,
    "GET /api/clients/<uuid:uuid>/uptime": VIEWER,
    "GET /api/clients/<uuid:uuid>/events": VIEWER,
    "GET /api/availability/day": VIEWER,
    "GET /api/availability/site": VIEWER,
    "GET /api/availability/sites": VIEWER,
    "POST /api/clients/<uuid:uuid>/log-level": OPERATOR,
    "POST /api/clients/<uuid:uuid>/commands": OPERATOR,
    "GET /api/clients/<uuid:uuid>/commands": VIEWER,
    "GET /api/commands/<uuid:command_id>": VIEWER,
    "GET /api/clients/<uuid:uuid>/health/history": VIEWER,
    "POST /api/commands/<uuid:command_id>/cancel": OPERATOR,
    "POST /api/commands/<uuid:command_id>/end": ADMIN,
    "POST /api/commands": OPERATOR,  # shutdown_host: admin
    "GET /api/command-batches": VIEWER,
    "GET /api/command-batches/<uuid:batch_id>": VIEWER,
    "POST /api/command-batches/<uuid:batch_id>/pause": OPERATOR,
    "POST /api/command-batches/<uuid:batch_id>/resume": OPERATOR,  # of a shutdown_host: admin
    "POST /api/command-batches/<uuid:batch_id>/abort": OPERATOR,
    "GET /api/schedules": VIEWER,
    "POST /api/schedules": OPERATOR,  # shutdown_host: admin
    "GET /api/schedules/<uuid:schedule_id>": VIEWER,
    "PATCH /api/schedules/<uuid:schedule_id>": OPERATOR,  # of a shutdown_host: admin
    "DELETE /api/schedules/<uuid:schedule_id>": OPERATOR,
    "GET /api/clients/<uuid:uuid>/schedules": VIEWER,
    "GET /api/clients/<uuid:uuid>/recovery": VIEWER,
    "POST /api/clients/<uuid:uuid>/recovery/resume": OPERATOR,
    "POST /api/recovery/breaker/release": OPERATOR,
    "GET /api/recovery/mended": VIEWER,
    "GET /api/recovery/events": VIEWER,
    "GET /api/incidents": VIEWER,
    "GET /api/incidents/<id:incident_id>": VIEWER,
    "GET /api/incidents/<id:incident_id>/displays": VIEWER,
    "GET /api/incidents/<id:incident_id>/events": VIEWER,
    "POST /api/incidents/<id:incident_id>/take": OPERATOR,
    "POST /api/incidents/<id:incident_id>/give_back": OPERATOR,
    "GET /api/clients/<uuid:uuid>/screenshots": OPERATOR,
    "GET /api/incidents/<id:incident_id>/screenshots": OPERATOR,
    "GET /api/screenshots": OPERATOR,
    "GET /api/screenshots/<id:screenshot_id>": OPERATOR,
    "GET /api/screenshot-policy": VIEWER,
    "PUT /api/screenshot-policy": ADMIN,
    "POST /api/display/screenshots": PUBLIC,  # a display's own login
    "POST /api/display/screenshots/<uuid:command_id>": PUBLIC,  # as above
    "GET /api/expectations": VIEWER,
    "PUT /api/expectations": OPERATOR,
    "DELETE /api/expectations/<id:expectation_id>": OPERATOR,
    "GET /api/quiet-times": VIEWER,
    "POST /api/quiet-times": OPERATOR,
    "GET /api/quiet-times/<id:quiet_id>": VIEWER,
    "PATCH /api/quiet-times/<id:quiet_id>": OPERATOR,
    "DELETE /api/quiet-times/<id:quiet_id>": OPERATOR,
    "GET /api/clients/<uuid:uuid>/quiet-times": VIEWER,
    "GET /api/notifications/channels": ADMIN,
    "POST /api/notifications/channels": ADMIN,
    "PATCH /api/notifications/channels/<id:channel_id>": ADMIN,
    "DELETE /api/notifications/channels/<id:channel_id>": ADMIN,
    "POST /api/notifications/channels/<id:channel_id>/test": ADMIN,
    "POST /api/notifications/channels/test": ADMIN,
    "GET /api/notifications/deliveries": OPERATOR,
    "GET /api/monitoring/overview": VIEWER,
    "GET /api/monitoring/displays": VIEWER,
    "GET /api/metrics": VIEWER,
    "POST /api/event-media": OPERATOR,
    "GET /api/event-media": VIEWER,
    "GET /api/event-media/<id:media_id>": VIEWER,
    "PATCH /api/event-media/<id:media_id>": OPERATOR,
    "DELETE /api/event-media/<id:media_id>": OPERATOR,
    "GET /api/event-media/<id:media_id>/content": VIEWER,
    "GET /api/event-media/<id:media_id>/thumbnail": VIEWER,
    "POST /api/event-media/uploads": OPERATOR,
    "GET /api/event-media/uploads/<upload_id>": VIEWER,
    "PATCH /api/event-media/uploads/<upload_id>": OPERATOR,
    "DELETE /api/event-media/uploads/<upload_id>": OPERATOR,
    "POST /api/conversions/<id:media_id>/pdf": OPERATOR,
    "POST /api/conversions/<id:media_id>/reconvert": OPERATOR,
    "GET /api/conversions/<id:media_id>/status": VIEWER,
    "GET /api/conversions": VIEWER,
    "GET /api/files/converted/<path:path>": VIEWER,
    "POST /api/session": PUBLIC,
    "GET /api/session": VIEWER,
    "GET /api/session/method": PUBLIC,
    "DELETE /api/session": VIEWER,
    "POST /api/session/provider": PUBLIC,
    "GET /api/session/provider/callback": PUBLIC,
    "POST /api/users/me/password": VIEWER,
    "GET /api/users/me/sessions": VIEWER,
    "DELETE /api/users/me/sessions/<id:session_id>": VIEWER,
    "GET /api/users/me/second-factor": VIEWER,
    "POST /api/users/me/second-factor": VIEWER,
    "POST /api/users/me/second-factor/confirm": VIEWER,
    "POST /api/users/me/second-factor/remove": VIEWER,
    "POST /api/users/<id:user_id>/reset-second-factor": ADMIN,
    "GET /api/users": ADMIN,
    "POST /api/users": ADMIN,
    "PATCH /api/users/<id:user_id>": ADMIN,
    "POST /api/users/<id:user_id>/reset-password": ADMIN,
    "DELETE /api/users/<id:user_id>": ADMIN,
    "GET /api/tokens": ADMIN,
    "POST /api/tokens": ADMIN,
    "DELETE /api/tokens/<token_id>": ADMIN,
    "POST /api/sites/rename": ADMIN,
    "GET /api/status-links": ADMIN,
    "POST /api/status-links": ADMIN,
    "DELETE /api/status-links/<id:link_id>": ADMIN,
    "GET /api/status": PUBLIC,  # a link's secret
    "POST /api/clients/<uuid:uuid>/enrolment": ADMIN,
    "DELETE /api/clients/<uuid:uuid>/enrolment": ADMIN,
    "POST /api/enroll": PUBLIC,
    "POST /api/enroll/rotate": PUBLIC,
    "GET /api/audit": ADMIN,
    "GET /api/dead-letters": OPERATOR,
    "GET /api/settings": VIEWER,
    "GET /api/health/live": PUBLIC,
    "GET /api/health/ready": PUBLIC,
    "GET /api/openapi.json": VIEWER,
    "GET /api/docs": VIEWER,
}

# How each route is bounded for callers whose rights are for chosen sites, listed a second time as well.
_BOUND = {
    "CLIENTS": """
        GET /api/clients/<uuid:uuid>
        PATCH /api/clients/<uuid:uuid>
        PATCH /api/clients
        POST /api/clients/service_failed/mended
        POST /api/schedules
        GET /api/clients/<uuid:uuid>/schedules
        DELETE /api/clients/<uuid:uuid>
        POST /api/clients/<uuid:uuid>/clear_service_failed
        POST /api/clients/<uuid:uuid>/service_failed/take
        POST /api/clients/<uuid:uuid>/service_failed/give_back
        GET /api/clients/<uuid:uuid>/uptime
        GET /api/clients/<uuid:uuid>/events
        GET /api/clients/<uuid:uuid>/health/history
        POST /api/clients/<uuid:uuid>/log-level
        GET /api/client-logs/<uuid:uuid>/logs
        POST /api/clients/<uuid:uuid>/commands
        GET /api/clients/<uuid:uuid>/commands
        GET /api/commands/<uuid:command_id>
        POST /api/commands/<uuid:command_id>/cancel
        POST /api/commands/<uuid:command_id>/end
        POST /api/commands
        GET /api/clients/<uuid:uuid>/recovery
        POST /api/clients/<uuid:uuid>/recovery/resume
        GET /api/clients/<uuid:uuid>/quiet-times
        GET /api/clients/<uuid:uuid>/screenshots
        GET /api/screenshots/<id:screenshot_id>
        POST /api/clients/<uuid:uuid>/enrolment
        DELETE /api/clients/<uuid:uuid>/enrolment
    """,
    "LISTS": """
        GET /api/monitoring/overview
        GET /api/monitoring/displays
        GET /api/recovery/mended
        GET /api/schedules
        GET /api/schedules/<uuid:schedule_id>
        PATCH /api/schedules/<uuid:schedule_id>
        DELETE /api/schedules/<uuid:schedule_id>
        GET /api/clients
        GET /api/clients/crashed
        GET /api/clients/service_failed
        GET /api/clients/unsteady
        GET /api/availability/day
        GET /api/availability/site
        GET /api/availability/sites
        GET /api/clients/service_failed/acknowledged
        GET /api/client-logs/summary
        GET /api/client-logs/recent-errors
        GET /api/command-batches
        GET /api/command-batches/<uuid:batch_id>
        POST /api/command-batches/<uuid:batch_id>/pause
        POST /api/command-batches/<uuid:batch_id>/resume
        POST /api/command-batches/<uuid:batch_id>/abort
        POST /api/recovery/breaker/release
        GET /api/recovery/events
        GET /api/expectations
        PUT /api/expectations
        DELETE /api/expectations/<id:expectation_id>
        GET /api/quiet-times
        POST /api/quiet-times
        GET /api/quiet-times/<id:quiet_id>
        PATCH /api/quiet-times/<id:quiet_id>
        DELETE /api/quiet-times/<id:quiet_id>
        GET /api/incidents
        GET /api/incidents/<id:incident_id>
        GET /api/incidents/<id:incident_id>/displays
        GET /api/incidents/<id:incident_id>/events
        GET /api/incidents/<id:incident_id>/screenshots
        POST /api/incidents/<id:incident_id>/take
        POST /api/incidents/<id:incident_id>/give_back
        GET /api/screenshots
        GET /api/screenshot-policy
        PUT /api/screenshot-policy
        GET /api/dead-letters
        GET /api/status-links
        POST /api/status-links
        DELETE /api/status-links/<id:link_id>
    """,
    "FLEET": """
        GET /api/client-logs/feed
        GET /api/client-logs/test
        GET /api/notifications/channels
        POST /api/notifications/channels
        PATCH /api/notifications/channels/<id:channel_id>
        DELETE /api/notifications/channels/<id:channel_id>
        POST /api/notifications/channels/<id:channel_id>/test
        POST /api/notifications/channels/test
        GET /api/notifications/deliveries
        GET /api/users
        POST /api/users
        PATCH /api/users/<id:user_id>
        POST /api/users/<id:user_id>/reset-password
        POST /api/users/<id:user_id>/reset-second-factor
        DELETE /api/users/<id:user_id>
        GET /api/tokens
        POST /api/tokens
        DELETE /api/tokens/<token_id>
        GET /api/audit
        GET /api/settings
        POST /api/sites/rename
        GET /api/metrics
    """,
    "NONE": """
        POST /api/display/screenshots/<uuid:command_id>
        POST /api/display/screenshots
        POST /api/event-media
        GET /api/event-media
        GET /api/event-media/<id:media_id>
        PATCH /api/event-media/<id:media_id>
        DELETE /api/event-media/<id:media_id>
        GET /api/event-media/<id:media_id>/content
        GET /api/event-media/<id:media_id>/thumbnail
        POST /api/event-media/uploads
        GET /api/event-media/uploads/<upload_id>
        PATCH /api/event-media/uploads/<upload_id>
        DELETE /api/event-media/uploads/<upload_id>
        POST /api/conversions/<id:media_id>/pdf
        POST /api/conversions/<id:media_id>/reconvert
        GET /api/conversions/<id:media_id>/status
        GET /api/conversions
        GET /api/files/converted/<path:path>
        POST /api/session
        GET /api/session/method
        GET /api/session
        DELETE /api/session
        POST /api/session/provider
        GET /api/session/provider/callback
        GET /api/users/me/sessions
        DELETE /api/users/me/sessions/<id:session_id>
        POST /api/users/me/password
        GET /api/users/me/second-factor
        POST /api/users/me/second-factor
        POST /api/users/me/second-factor/confirm
        POST /api/users/me/second-factor/remove
        POST /api/enroll
        POST /api/enroll/rotate
        GET /api/health/live
        GET /api/health/ready
        GET /api/openapi.json
        GET /api/docs
        GET /api/status
    """,
}
BOUND_BY = {line.strip(): bound for bound, lines in _BOUND.items() for line in lines.strip().splitlines()}
