# The bridge: stores the messages of displays. Two instances always run. A Postgres advisory lock decides which one leads;
# the other one takes over when the leader's database session ends.

# Identity: google_service_account.of["bridge"] (names.tf).

# Grants: read its own secrets, and write the metrics that the collector beside it reads.
resource "google_secret_manager_secret_iam_member" "bridge_reads" {
  for_each = local.readable_by["bridge"]

  secret_id = each.value
  role      = "roles/secretmanager.secretAccessor"
  member    = google_service_account.of["bridge"].member
}

resource "google_project_iam_member" "bridge_writes_metrics" {
  project = var.project_id
  role    = "roles/monitoring.metricWriter"
  member  = google_service_account.of["bridge"].member
}

# Service. The port is only for probes and the collector. Its CPU is always on. While Postgres is away, /healthz says so
# and the bridge waits; Cloud Run replaces it only after ten minutes.
module "bridge" {
  source = "./modules/run_service"

  name                  = "bridge"
  region                = var.region
  labels                = local.labels
  image                 = var.image
  command               = ["tini", "--", "python", "-m", "bridge.main"]
  arguments             = []
  service_account       = google_service_account.of["bridge"].email
  deletion_protection   = var.deletion_protection
  subnetwork            = google_compute_subnetwork.services.id
  concurrency           = 10
  min_instances         = local.bridge_instances
  max_instances         = local.bridge_instances
  cpu_while_idle        = true
  secret_files          = local.broker_ca_files
  probe_path            = "/healthz"
  liveness_failures     = 20
  metrics_sidecar_image = var.metrics_sidecar_image

  environment = merge(local.common_environment, local.broker_environment, local.broker_trust, {
    MQTT_USERNAME      = "${local.login_prefix}${local.components["bridge"].user}"
    BRIDGE_HEALTH_PORT = "8080"
  })

  secrets = local.secrets_of["bridge"]

  depends_on = [terraform_data.migrated, google_secret_manager_secret_iam_member.bridge_reads]
}

# Trigger: none. It always runs.
