# The job queues. They retry without a limit: the job's own row counts the attempts. The numbers equal those of
# deploy/parts/task_queue; a test compares them.
locals {
  # Queue -> concurrent jobs. Notifications must not wait behind conversions of minutes.
  queues = {
    conversions   = var.conversions_at_once
    notifications = 4
  }
}

resource "google_cloud_tasks_queue" "of" {
  for_each = local.queues

  name     = each.key
  location = var.region

  rate_limits {
    max_dispatches_per_second = 20
    max_concurrent_dispatches = each.value
  }

  retry_config {
    max_attempts  = -1
    min_backoff   = "1s"
    max_backoff   = "60s"
    max_doublings = 6
  }

  stackdriver_logging_config {
    sampling_ratio = 1
  }

  depends_on = [google_project_service.used]
}
