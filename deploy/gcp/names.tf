# Shared by several files: names, addresses known before the first apply, and the settings of all components.
locals {
  labels = { app = "signage-fleet" }

  # Roles, broker users, secrets and memory of each component.
  components = yamldecode(file("${path.module}/../components.yaml"))

  # Service accounts, one for each component. The services have the same names.
  service_names = toset([
    "api", "convert-worker", "scheduler-tick", "bridge", "converter", "dashboard", "migrations", "tasks", "scheduler",
    "mosquitto",
  ])

  # Cloud Run's deterministic addresses. They are not attributes of the services, because a service needs its own address:
  # it is the audience of the identity tokens that it accepts.
  run_domain         = "${data.google_project.this.number}.${var.region}.run.app"
  convert_worker_url = "https://signage-convert-worker-${local.run_domain}"
  scheduler_tick_url = "https://signage-scheduler-tick-${local.run_domain}"
  converter_url      = "https://signage-converter-${local.run_domain}"

  media_root    = "/server/media"
  broker_ca     = "/etc/signage/broker-ca/ca.pem"
  has_broker_ca = var.broker_ca_pem != ""

  # paho uses the system's CAs. If the broker has its own CA, this makes OpenSSL use that one instead.
  broker_trust = local.has_broker_ca ? { SSL_CERT_FILE = local.broker_ca } : {}

  # A shard has its own topics and logins on the shared broker. Displays of other shards may send there, so a first
  # message does not register a client.
  is_shard          = var.shard != ""
  topic_root        = local.is_shard ? var.shard : lookup(var.settings, "MQTT_TOPIC_ROOT", "signage")
  login_prefix      = local.is_shard ? "${var.shard}-" : ""
  shard_environment = local.is_shard ? { CLIENT_AUTO_REGISTER = "false" } : {}

  common_environment = merge(var.settings, local.shard_environment, {
    DEPLOYMENT_MODE = "cloud"
    MEDIA_ROOT      = local.media_root
    PUBLIC_URL      = "https://${var.people_host}"
    MQTT_TOPIC_ROOT = local.topic_root

    CONVERSION_DEADLINE_SECONDS = tostring(var.conversion_deadline_seconds)
    CRASH_RECOVERY_ENABLED      = tostring(var.crash_recovery_enabled)
  })

  broker_environment = {
    MQTT_URL = "mqtts://${var.broker_host}:${var.broker_services_port}"
  }

  queue_environment = {
    QUEUE_URL = "cloudtasks:///projects/${var.project_id}/locations/${var.region}"
  }

  conversions_environment = {
    CONVERT_WORKER_URL    = local.convert_worker_url
    TASKS_SERVICE_ACCOUNT = google_service_account.of["tasks"].email
  }
}

# The identities: one account for each component, with only the rights that its own file grants.
resource "google_service_account" "of" {
  for_each = local.service_names

  account_id   = "signage-${each.key}"
  display_name = "Signage Fleet: ${each.key}"

  depends_on = [google_project_service.used]
}

# The required Google APIs; they stay enabled after a destroy.
resource "google_project_service" "used" {
  for_each = toset([
    "artifactregistry.googleapis.com", "billingbudgets.googleapis.com", "cloudresourcemanager.googleapis.com",
    "cloudscheduler.googleapis.com", "cloudtasks.googleapis.com",
    "compute.googleapis.com", "dns.googleapis.com", "iam.googleapis.com",
    "iap.googleapis.com", "logging.googleapis.com", "monitoring.googleapis.com", "run.googleapis.com",
    "secretmanager.googleapis.com", "servicenetworking.googleapis.com", "sqladmin.googleapis.com",
    "storage.googleapis.com",
  ])

  service            = each.key
  disable_on_destroy = false
}
