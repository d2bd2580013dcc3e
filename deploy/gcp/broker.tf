# The broker. `mosquitto`: a Mosquitto on its own machine, with the accounts component and the browsers' door beside it.
# `external`: any MQTT 5
# broker, which needs the users and rights of docs/deploying.md and reads the displays' logins from Postgres itself.

# Identity: google_service_account.of["mosquitto"] (names.tf).

# Grants: read its secrets, pull its image, write its log.
locals {
  is_mosquitto = var.broker == "mosquitto"

  # File below the folder of secrets -> its secret.
  mosquitto_generated = { for file in local.components["broker"].secrets : file => replace(file, "_", "-") }
}

resource "google_secret_manager_secret" "broker_key" {
  count = local.is_mosquitto ? 1 : 0

  secret_id = "signage-broker-key"
  labels    = local.labels

  replication {
    auto {}
  }

  depends_on = [google_project_service.used]
}

resource "google_secret_manager_secret_version" "broker_key" {
  count = local.is_mosquitto ? 1 : 0

  secret                 = google_secret_manager_secret.broker_key[0].id
  secret_data_wo         = var.broker_key_pem
  secret_data_wo_version = parseint(substr(sha256(var.broker_certificate_pem), 0, 7), 16) # a new certificate, a new key

  lifecycle {
    create_before_destroy = true
  }
}

# The certificate is no secret, but is stored like its key.
resource "google_secret_manager_secret" "broker_certificate" {
  count = local.is_mosquitto ? 1 : 0

  secret_id = "signage-broker-certificate"
  labels    = local.labels

  replication {
    auto {}
  }

  depends_on = [google_project_service.used]
}

resource "google_secret_manager_secret_version" "broker_certificate" {
  count = local.is_mosquitto ? 1 : 0

  secret      = google_secret_manager_secret.broker_certificate[0].id
  secret_data = var.broker_certificate_pem
}

resource "google_secret_manager_secret_iam_member" "mosquitto_reads" {
  for_each = local.is_mosquitto ? merge(
    { for file, name in local.mosquitto_generated : file => google_secret_manager_secret.generated[name].id },
    {
      database_url_broker_accounts = google_secret_manager_secret.component_database_url["broker-accounts"].id
      broker_key                   = google_secret_manager_secret.broker_key[0].id
      broker_certificate           = google_secret_manager_secret.broker_certificate[0].id
    },
  ) : {}

  secret_id = each.value
  role      = "roles/secretmanager.secretAccessor"
  member    = google_service_account.of["mosquitto"].member
}

resource "google_project_iam_member" "mosquitto" {
  for_each = toset(["roles/artifactregistry.reader", "roles/logging.logWriter", "roles/monitoring.metricWriter"])

  project = var.project_id
  role    = each.key
  member  = google_service_account.of["mosquitto"].member
}

# Service.
module "mosquitto" {
  source = "./modules/mosquitto"
  count  = local.is_mosquitto ? 1 : 0

  project_id          = var.project_id
  zone                = var.zone
  machine_type        = var.broker_machine_type
  labels              = local.labels
  image               = var.box_image
  host                = var.broker_host
  displays_port       = var.broker_displays_port
  services_port       = var.broker_services_port
  browsers_port       = 8885
  topic_root          = local.topic_root
  network             = google_compute_network.this.id
  subnetwork          = google_compute_subnetwork.services.id
  services_range      = google_compute_subnetwork.services.ip_cidr_range
  service_account     = google_service_account.of["mosquitto"].email
  deletion_protection = var.deletion_protection

  secrets = merge(
    { for file, name in local.mosquitto_generated : file => google_secret_manager_secret_version.generated[name].name },
    {
      database_url_broker_accounts = google_secret_manager_secret_version.component_database_url["broker-accounts"].name
      broker_key                   = google_secret_manager_secret_version.broker_key[0].name
      broker_certificate           = google_secret_manager_secret_version.broker_certificate[0].name
    },
  )

  depends_on = [
    terraform_data.migrated, # the accounts program takes its new image by itself, and then wants the new schema
    google_secret_manager_secret_iam_member.mosquitto_reads,
    google_project_iam_member.mosquitto,
  ]
}

# Trigger: displays and services connect.
