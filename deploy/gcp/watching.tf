# Uptime checks from outside, and a budget.

# Checks of both host names from several continents. Under the people's name Identity-Aware Proxy redirects callers who
# are not signed in, so that check only tests TLS and the redirect.
locals {
  doors = {
    people   = { host = var.people_host, path = "/" }
    machines = { host = var.machines_host, path = "/api/health/live" }
  }
}

resource "google_monitoring_uptime_check_config" "of" {
  for_each = local.doors

  display_name = "Signage Fleet: ${each.key}"
  timeout      = "10s"
  period       = "300s"
  user_labels  = local.labels

  http_check {
    path         = each.value.path
    port         = 443
    use_ssl      = true
    validate_ssl = true

    dynamic "accepted_response_status_codes" {
      for_each = each.key == "people" ? ["STATUS_CLASS_2XX", "STATUS_CLASS_3XX", "STATUS_CLASS_4XX"] : ["STATUS_CLASS_2XX"]
      content {
        status_class = accepted_response_status_codes.value
      }
    }
  }

  monitored_resource {
    type   = "uptime_url"
    labels = { project_id = var.project_id, host = each.value.host }
  }

  depends_on = [google_project_service.used]
}

resource "google_monitoring_alert_policy" "door" {
  for_each = local.doors

  display_name          = "Signage Fleet: ${each.value.host} does not answer"
  combiner              = "OR"
  severity              = "CRITICAL"
  notification_channels = [google_monitoring_notification_channel.people.id]
  user_labels           = local.labels

  conditions {
    display_name = each.key

    condition_threshold {
      filter          = "metric.type=\"monitoring.googleapis.com/uptime_check/check_passed\" AND resource.type=\"uptime_url\" AND metric.labels.check_id=\"${google_monitoring_uptime_check_config.of[each.key].uptime_check_id}\""
      comparison      = "COMPARISON_GT"
      threshold_value = 1 # more than one continent
      duration        = "300s"

      aggregations {
        alignment_period     = "1200s"
        per_series_aligner   = "ALIGN_NEXT_OLDER"
        cross_series_reducer = "REDUCE_COUNT_FALSE"
        group_by_fields      = ["resource.label.host"]
      }
    }
  }

  documentation {
    content   = "Asked from outside it does not answer, or its certificate is not good. Look at DNS, the managed certificate, the load balancer's log and signage-api."
    mime_type = "text/markdown"
  }
}

# A budget for each month. It needs a right on the billing account, which the person who applies may not have.
resource "google_billing_budget" "this" {
  count = var.billing_account == "" ? 0 : 1

  billing_account = var.billing_account
  display_name    = "Signage Fleet"

  budget_filter {
    projects = ["projects/${data.google_project.this.number}"]
  }

  amount {
    specified_amount {
      units = tostring(var.monthly_budget)
    }
  }

  dynamic "threshold_rules" {
    for_each = [0.5, 0.9, 1.0]
    content {
      threshold_percent = threshold_rules.value
    }
  }

  all_updates_rule {
    monitoring_notification_channels = [google_monitoring_notification_channel.people.id]
  }

  depends_on = [google_project_service.used]
}
