# The function `api`: every /api/ endpoint.

# Identity: google_service_account.of["api"] (names.tf).

# Grants: enqueue jobs in the name of the queue's account, read its own secrets, use the media volume.
resource "google_cloud_tasks_queue_iam_member" "api_enqueues" {
  for_each = google_cloud_tasks_queue.of

  name     = each.value.name
  location = each.value.location
  role     = "roles/cloudtasks.enqueuer"
  member   = google_service_account.of["api"].member
}

# GET /api/health/ready checks that the queue exists.
resource "google_cloud_tasks_queue_iam_member" "api_looks" {
  for_each = google_cloud_tasks_queue.of

  name     = each.value.name
  location = each.value.location
  role     = "roles/cloudtasks.viewer"
  member   = google_service_account.of["api"].member
}

resource "google_service_account_iam_member" "api_names_the_queues_account" {
  service_account_id = google_service_account.of["tasks"].name
  role               = "roles/iam.serviceAccountUser"
  member             = google_service_account.of["api"].member
}

resource "google_storage_bucket_iam_member" "api_media" {
  bucket = google_storage_bucket.media.name
  role   = "roles/storage.objectUser"
  member = google_service_account.of["api"].member
}

resource "google_secret_manager_secret_iam_member" "api_reads" {
  for_each = local.readable_by["api"]

  secret_id = each.value
  role      = "roles/secretmanager.secretAccessor"
  member    = google_service_account.of["api"].member
}

# Service. It authenticates every caller itself (IAP's assertion, tokens), so Cloud Run must not check the tokens.
module "api" {
  source = "./modules/run_service"

  name                  = "api"
  region                = var.region
  labels                = local.labels
  image                 = var.image
  service_account       = google_service_account.of["api"].email
  ingress               = "INGRESS_TRAFFIC_INTERNAL_LOAD_BALANCER"
  checks_callers_itself = true
  deletion_protection   = var.deletion_protection
  subnetwork            = google_compute_subnetwork.services.id
  timeout_seconds       = 900 # 200 MB to somebody whose line takes 2 Mbit/s
  concurrency           = 60
  min_instances         = var.api_min_instances
  max_instances         = var.api_max_instances
  memory                = "${local.components["api"].memory}Gi"
  media_bucket          = google_storage_bucket.media.name
  media_root            = local.media_root
  secret_files          = local.broker_ca_files
  probe_path            = "/api/health/live"

  environment = merge(local.common_environment, local.broker_environment, local.queue_environment, local.conversions_environment, local.broker_trust, {
    FUNCTION_TARGET    = "api"
    FUNCTION_SOURCE    = "/app/functions/api/main.py"
    IAP_AUDIENCE       = local.iap_audience
    MQTT_USERNAME      = "${local.login_prefix}${local.components["api"].user}"
    TRUSTED_PROXY_HOPS = "2" # the load balancer adds the caller's address and its own
    DISPLAYS_MQTT_URL  = "mqtts://${var.broker_host}:${var.broker_displays_port}"
    DISPLAYS_CA_FILE   = local.has_broker_ca ? local.broker_ca : ""
    DATABASE_POOL_SIZE = tostring(var.api_database_pool_size)
  })

  secrets = local.secrets_of["api"]

  depends_on = [terraform_data.migrated, google_secret_manager_secret_iam_member.api_reads]
}

# Trigger: the load balancer, under two host names (load_balancer.tf).
