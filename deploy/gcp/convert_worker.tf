# The function `convert_worker`: one conversion job, delivered by the task queue.

# Identity: google_service_account.of["convert-worker"] (names.tf).

# Grants: read its own secret, use the media volume, call the converter.
resource "google_storage_bucket_iam_member" "convert_worker_media" {
  bucket = google_storage_bucket.media.name
  role   = "roles/storage.objectUser"
  member = google_service_account.of["convert-worker"].member
}

resource "google_secret_manager_secret_iam_member" "convert_worker_reads" {
  secret_id = google_secret_manager_secret.component_database_url["convert-worker"].id
  role      = "roles/secretmanager.secretAccessor"
  member    = google_service_account.of["convert-worker"].member
}

resource "google_cloud_run_v2_service_iam_member" "convert_worker_calls_converter" {
  location = var.region
  name     = module.converter.name
  role     = "roles/run.invoker"
  member   = google_service_account.of["convert-worker"].member
}

# Service. One job for each instance, with D + 60 s. All its traffic goes through our network; otherwise the converter,
# with internal ingress, would refuse it.
module "convert_worker" {
  source = "./modules/run_service"

  name                  = "convert-worker"
  region                = var.region
  labels                = local.labels
  image                 = var.image
  service_account       = google_service_account.of["convert-worker"].email
  checks_callers_itself = true
  deletion_protection   = var.deletion_protection
  subnetwork            = google_compute_subnetwork.services.id
  egress                = "ALL_TRAFFIC"
  timeout_seconds       = var.conversion_deadline_seconds + 60
  concurrency           = 1
  max_instances         = var.conversions_at_once
  memory                = "${local.components["convert-worker"].memory}Gi"
  media_bucket          = google_storage_bucket.media.name
  media_root            = local.media_root

  environment = merge(local.common_environment, local.conversions_environment, {
    FUNCTION_TARGET = "convert_worker"
    FUNCTION_SOURCE = "/app/functions/convert_worker/main.py"
    CONVERTER_URL   = local.converter_url
  })

  secrets = local.secrets_of["convert-worker"]

  depends_on = [terraform_data.migrated, google_secret_manager_secret_iam_member.convert_worker_reads]
}

# Trigger: the queue `conversions` (queues.tf).
