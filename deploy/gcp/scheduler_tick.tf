# The function `scheduler_tick`: command expiry, crash recovery, sweeps, once a minute; and notifications, as they are due.

# Identity: google_service_account.of["scheduler-tick"] (names.tf).

# Grants: read its own secrets, and enqueue forgotten jobs again.
resource "google_cloud_tasks_queue_iam_member" "scheduler_tick_enqueues" {
  for_each = google_cloud_tasks_queue.of

  name     = each.value.name
  location = each.value.location
  role     = "roles/cloudtasks.enqueuer"
  member   = google_service_account.of["scheduler-tick"].member
}

resource "google_service_account_iam_member" "scheduler_tick_names_the_queues_account" {
  service_account_id = google_service_account.of["tasks"].name
  role               = "roles/iam.serviceAccountUser"
  member             = google_service_account.of["scheduler-tick"].member
}

resource "google_secret_manager_secret_iam_member" "scheduler_tick_reads" {
  for_each = local.readable_by["scheduler-tick"]

  secret_id = each.value
  role      = "roles/secretmanager.secretAccessor"
  member    = google_service_account.of["scheduler-tick"].member
}

# Service. It has no media volume, because a tick uses no file. Notifications may wait for slow receivers, so there must be
# room for a tick beside them. A second tick at the same time finds the lock taken and does nothing.
module "scheduler_tick" {
  source = "./modules/run_service"

  name                  = "scheduler-tick"
  region                = var.region
  labels                = local.labels
  image                 = var.image
  service_account       = google_service_account.of["scheduler-tick"].email
  checks_callers_itself = true
  deletion_protection   = var.deletion_protection
  subnetwork            = google_compute_subnetwork.services.id
  timeout_seconds       = 55
  concurrency           = 8 # a tick beside the notifications that the queue brings, four at once
  max_instances         = local.tick_max_instances
  secret_files          = local.broker_ca_files

  environment = merge(local.common_environment, local.broker_environment, local.queue_environment, local.conversions_environment, local.broker_trust, {
    FUNCTION_TARGET           = "scheduler_tick"
    FUNCTION_SOURCE           = "/app/functions/scheduler_tick/main.py"
    MQTT_USERNAME             = "${local.login_prefix}${local.components["scheduler-tick"].user}"
    SCHEDULER_TICK_URL        = local.scheduler_tick_url
    SCHEDULER_SERVICE_ACCOUNT = google_service_account.of["scheduler"].email
  })

  secrets = local.secrets_of["scheduler-tick"]

  depends_on = [terraform_data.migrated, google_secret_manager_secret_iam_member.scheduler_tick_reads]
}

# Trigger: the queue `notifications` (queues.tf), and Cloud Scheduler, each minute, with an identity token of its own
# account for this address. A failed tick is not repeated: the next one does its work.
resource "google_cloud_scheduler_job" "tick" {
  name             = "signage-tick"
  region           = var.region
  schedule         = "* * * * *"
  time_zone        = "Etc/UTC"
  attempt_deadline = "55s"

  retry_config {
    retry_count = 0
  }

  http_target {
    http_method = "POST"
    uri         = local.scheduler_tick_url

    oidc_token {
      service_account_email = google_service_account.of["scheduler"].email
      audience              = local.scheduler_tick_url
    }
  }

  depends_on = [module.scheduler_tick]
}
