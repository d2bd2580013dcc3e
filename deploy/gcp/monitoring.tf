# The alert rules. A component that scales to zero would lose its counters, so its counters come from its log lines. The
# bridge always runs, so its metrics come from its /metrics.
resource "google_monitoring_notification_channel" "people" {
  display_name = "Signage Fleet"
  type         = "email"
  labels       = { email_address = var.alert_email }

  depends_on = [google_project_service.used]
}

locals {
  # Counted log lines: name -> filter, and the field whose value is summed (null: the lines are counted).
  log_of_the_tick = "resource.type=\"cloud_run_revision\" resource.labels.service_name=\"signage-scheduler-tick\""
  of_the_tick     = "${local.log_of_the_tick} jsonPayload.event=\"tick\""
  log_metrics = {
    tick_step_failed   = { filter = "${local.log_of_the_tick} jsonPayload.event=\"tick_step_failed\"", field = null }
    not_told           = { filter = "${local.log_of_the_tick} jsonPayload.event=\"notification_tried\" jsonPayload.result=\"refused\"", field = null }
    told_again         = { filter = "${local.log_of_the_tick} jsonPayload.event=\"notification_tried\" jsonPayload.result=\"again\"", field = null }
    tick               = { filter = local.of_the_tick, field = null }
    recovery_restarts  = { filter = local.of_the_tick, field = "jsonPayload.did.recover.restarts" }
    recovery_reboots   = { filter = local.of_the_tick, field = "jsonPayload.did.recover.reboots" }
    breakers_open      = { filter = local.of_the_tick, field = "jsonPayload.did.recover.breakers_open" }
    conversions_old    = { filter = local.of_the_tick, field = "jsonPayload.did.conversions.enqueued" }
    outbox_waiting     = { filter = local.of_the_tick, field = "jsonPayload.did.publish.waiting" }
    broker_dropped     = { filter = "logName:\"gcplogs-docker-driver\" jsonPayload.message=~\"messages are being dropped|Out of memory\"", field = null }
    broker_crashed     = { filter = "logName:\"gcplogs-docker-driver\" jsonPayload.message:\"broker_crashed\"", field = null }
    certificate_old    = { filter = "logName:\"gcplogs-docker-driver\" jsonPayload.message:\"certificate_old\"", field = null }
    certificate_ending = { filter = "logName:\"gcplogs-docker-driver\" jsonPayload.message:\"certificate_ending\"", field = null }
    identity_refused   = { filter = "resource.type=\"cloud_run_revision\" jsonPayload.event=\"identity_refused\"", field = null }
  }

  # The rules: name -> query in PromQL, how long it must hold, text, and what to do.
  alerts = {
    tick_missing = {
      query = "(sum(increase(logging_googleapis_com:user_signage_tick{monitored_resource=\"cloud_run_revision\"}[3m])) or vector(0)) < 1"
      holds = "60s"
      says  = "No tick for three minutes: commands do not expire and nothing is recovered. Look at the job signage-tick and at the log of signage-scheduler-tick."
    }
    tick_failing = {
      query = "sum(increase(logging_googleapis_com:user_signage_tick_step_failed{monitored_resource=\"cloud_run_revision\"}[3m])) > 0"
      holds = "300s"
      says  = "Steps of the tick fail again and again; the others are done. GET /api/settings names them under scheduler.did.failed, the log of signage-scheduler-tick has the error (tick_step_failed)."
    }
    not_told = {
      query = "sum(increase(logging_googleapis_com:user_signage_not_told{monitored_resource=\"cloud_run_revision\"}[15m])) > 0 or sum(increase(logging_googleapis_com:user_signage_told_again{monitored_resource=\"cloud_run_revision\"}[15m])) > 4"
      holds = "0s"
      says  = "People are not told what they should be: a receiver refuses our messages, or does not take them. The settings page and GET /api/notifications/channels say which one and why."
    }
    canary_old = {
      query = "min(signage_bridge_canary_age_seconds) > 45 or absent(signage_bridge_leader == 1)"
      holds = "60s"
      says  = "The bridge does not hear its own canary, or none leads: displays' states are unknown. Look at the log of signage-bridge: broker or database away?"
    }
    outbox_old = {
      query = "sum(increase(logging_googleapis_com:user_signage_outbox_waiting_sum{monitored_resource=\"cloud_run_revision\"}[5m])) > 0"
      holds = "300s"
      says  = "Commands that are due are not published. The broker is away, or refuses the services' logins."
    }
    broker_dropped = {
      query = "sum(increase(logging_googleapis_com:user_signage_broker_dropped{monitored_resource=\"gce_instance\"}[5m])) > 0 or sum(increase(signage_bridge_dropped_total[5m])) > 0"
      holds = "0s"
      says  = "Messages were dropped: by the broker for a full queue, or by the bridge. Displays that keep a spool send theirs again; what plain ones sent is lost."
    }
    broker_crashed = {
      query = "sum(increase(logging_googleapis_com:user_signage_broker_crashed{monitored_resource=\"gce_instance\"}[15m])) > 0"
      holds = "0s"
      says  = "The broker crashed and was started again: every display connected anew. Look at its log before that moment."
    }
    certificate_old = {
      query = "sum(increase(logging_googleapis_com:user_signage_certificate_old{monitored_resource=\"gce_instance\"}[3h])) > 0"
      holds = "0s"
      says  = "The broker's certificate ends soon: after that no display connects any more. Give a new one (docs/deploying.md, Afterwards)."
    }
    certificate_ending = {
      query = "sum(increase(logging_googleapis_com:user_signage_certificate_ending{monitored_resource=\"gce_instance\"}[3h])) > 0"
      holds = "0s"
      says  = "The broker's certificate is about to end, and nobody has renewed it (docs/deploying.md, Afterwards)."
    }
    dead_letters = {
      query = "sum(increase(signage_bridge_dead_letters_total[15m])) > 10"
      holds = "0s"
      says  = "Displays send what the contract does not allow. GET /api/dead-letters shows topic, reason and payload."
    }
    messages_refused = {
      query = "sum(increase(signage_bridge_dead_letters_total{reason=\"refused_by_database\"}[15m])) > 0"
      holds = "0s"
      says  = "Messages of displays were put aside by a fault of the service itself (docs/alerts.md, SignageMessagesRefused)."
    }
    conversion_old = {
      query = "sum(increase(logging_googleapis_com:user_signage_conversions_old_sum{monitored_resource=\"cloud_run_revision\"}[15m])) > 3"
      holds = "0s"
      says  = "Conversions are not worked on and were put back on the queue again and again. Look at the queue conversions, signage-convert-worker and signage-converter."
    }
    stale_jump = {
      query = "sum(increase(logging_googleapis_com:user_signage_breakers_open_sum{monitored_resource=\"cloud_run_revision\"}[5m])) > 0"
      holds = "0s"
      says  = "A breaker is open: many displays fell silent at once and are left alone. Look at network and broker first."
    }
    recovery_storm = {
      query = "sum(increase(logging_googleapis_com:user_signage_recovery_restarts_sum{monitored_resource=\"cloud_run_revision\"}[30m])) + sum(increase(logging_googleapis_com:user_signage_recovery_reboots_sum{monitored_resource=\"cloud_run_revision\"}[30m])) > 30"
      holds = "0s"
      says  = "Recovery sent more than 30 commands in half an hour. Hold it (CRASH_RECOVERY_ENABLED) if the displays are well."
    }
    auth_burst = {
      query = "sum(increase(run_googleapis_com:request_count{monitored_resource=\"cloud_run_revision\",service_name=\"signage-api\",response_code=~\"401|403|429\"}[5m])) > 300 or sum(increase(logging_googleapis_com:user_signage_identity_refused{monitored_resource=\"cloud_run_revision\"}[5m])) > 30"
      holds = "0s"
      says  = "Many refused callers: somebody is guessing, or a token has expired in a script. The audit log and the load balancer's log say from where."
    }
    disk = {
      query = "max(cloudsql_googleapis_com:database_disk_utilization) > 0.85 or max(compute_googleapis_com:guest_disk_bytes_used{device_name=\"sdb\"}) > 17e9"
      holds = "300s"
      says  = "The database's or the broker's disk is nearly full. Shorten LOG_RETENTION_DAYS, or give it more room."
    }
  }
}

resource "google_logging_metric" "of" {
  for_each = local.log_metrics

  name            = "signage_${each.key}"
  filter          = each.value.filter
  value_extractor = each.value.field == null ? null : "EXTRACT(${each.value.field})"

  metric_descriptor {
    metric_kind = "DELTA"
    value_type  = each.value.field == null ? "INT64" : "DISTRIBUTION"
    unit        = "1"
  }

  depends_on = [google_project_service.used]
}

resource "google_monitoring_alert_policy" "of" {
  for_each = local.alerts

  display_name          = "Signage Fleet: ${replace(each.key, "_", " ")}"
  combiner              = "OR"
  severity              = contains(["tick_missing", "canary_old", "outbox_old", "disk", "certificate_ending"], each.key) ? "CRITICAL" : "WARNING"
  notification_channels = [google_monitoring_notification_channel.people.id]
  user_labels           = local.labels

  conditions {
    display_name = each.key

    condition_prometheus_query_language {
      query               = each.value.query
      duration            = each.value.holds
      evaluation_interval = "60s"
      alert_rule          = each.key

      # At the first apply the bridge has not run yet, so Cloud Monitoring does not know its metrics.
      disable_metric_validation = true
    }
  }

  alert_strategy {
    auto_close = "3600s"
  }

  documentation {
    content   = each.value.says
    mime_type = "text/markdown"
  }

  depends_on = [google_logging_metric.of]
}

# The dashboard of Cloud Monitoring: incoming, waiting and refused messages, and the size of the database.
locals {
  charts = {
    "Messages stored a second"           = "sum(rate(signage_bridge_stored_total[5m]))"
    "Age of the canary, s"               = "min(signage_bridge_canary_age_seconds)"
    "Bridges that lead"                  = "sum(signage_bridge_leader)"
    "Dead letters a minute, by reason"   = "sum by (reason) (rate(signage_bridge_dead_letters_total[5m])) * 60"
    "Ticks in five minutes"              = "sum(increase(logging_googleapis_com:user_signage_tick{monitored_resource=\"cloud_run_revision\"}[5m]))"
    "Recovery's commands in ten minutes" = "sum(increase(logging_googleapis_com:user_signage_recovery_restarts_sum{monitored_resource=\"cloud_run_revision\"}[10m])) + sum(increase(logging_googleapis_com:user_signage_recovery_reboots_sum{monitored_resource=\"cloud_run_revision\"}[10m]))"
    "Requests a second, by answer"       = "sum by (response_code_class) (rate(run_googleapis_com:request_count{monitored_resource=\"cloud_run_revision\",service_name=\"signage-api\"}[5m]))"
    "Time to answer, 95 %, ms"           = "histogram_quantile(0.95, sum by (le) (rate(run_googleapis_com:request_latencies_bucket{monitored_resource=\"cloud_run_revision\",service_name=\"signage-api\"}[5m])))"
    "Conversions waiting"                = "max(cloudtasks_googleapis_com:queue_depth{queue_id=\"conversions\"})"
    "Database's disk"                    = "max(cloudsql_googleapis_com:database_disk_utilization)"
  }
}

resource "google_monitoring_dashboard" "this" {
  dashboard_json = jsonencode({
    displayName = "Signage Fleet"
    mosaicLayout = {
      columns = 48
      tiles = [for place, title in keys(local.charts) : {
        width  = 24
        height = 16
        xPos   = (place % 2) * 24
        yPos   = floor(place / 2) * 16
        widget = {
          title = title
          xyChart = {
            dataSets = [{
              plotType        = "LINE"
              timeSeriesQuery = { prometheusQuery = local.charts[title] }
            }]
          }
        }
      }]
    }
  })

  depends_on = [google_project_service.used]
}
