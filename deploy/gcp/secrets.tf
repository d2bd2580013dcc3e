# Every secret is only in Secret Manager. An apply generates the values (ephemeral) and writes them by write-only
# arguments; they are never in the state, a plan or a service's plain environment.
locals {
  broker_users      = compact([for component in local.components : lookup(component, "user", "")])
  generated_secrets = toset(concat(["database-password", "signing-key"], [for user in local.broker_users : "mqtt-${user}-password"]))
}

ephemeral "random_password" "generated" {
  for_each = local.generated_secrets

  length  = 48
  special = false # it stands in addresses
}

resource "google_secret_manager_secret" "generated" {
  for_each = local.generated_secrets

  secret_id = "signage-${each.key}"
  labels    = local.labels

  replication {
    auto {}
  }

  depends_on = [google_project_service.used]
}

resource "google_secret_manager_secret_version" "generated" {
  for_each = local.generated_secrets

  secret                 = google_secret_manager_secret.generated[each.key].id
  secret_data_wo         = ephemeral.random_password.generated[each.key].result
  secret_data_wo_version = var.secrets_generation

  lifecycle {
    create_before_destroy = true
  }
}

ephemeral "google_secret_manager_secret_version" "database_password" {
  secret  = google_secret_manager_secret_version.generated["database-password"].secret
  version = google_secret_manager_secret_version.generated["database-password"].version
}

# The owner's DATABASE_URL with the private address, for the migrations. It has a password, so all of it is a secret.
resource "google_secret_manager_secret" "database_url" {
  secret_id = "signage-database-url"
  labels    = local.labels

  replication {
    auto {}
  }

  depends_on = [google_project_service.used]
}

resource "google_secret_manager_secret_version" "database_url" {
  secret                 = google_secret_manager_secret.database_url.id
  secret_data_wo         = "postgresql://${google_sql_user.this.name}:${ephemeral.google_secret_manager_secret_version.database_password.secret_data}@${google_sql_database_instance.this.private_ip_address}:5432/${google_sql_database.this.name}${local.database_trust}"
  secret_data_wo_version = var.secrets_generation

  lifecycle {
    create_before_destroy = true
  }
}

# A database role for each component (migrations/rights.py). The migrations make the roles and get all passwords; a
# component gets only its own DATABASE_URL.
locals {
  database_components = toset([
    for name, component in local.components : name if can(component.role) && !can(component.only)
  ])
}

ephemeral "random_password" "database_role" {
  for_each = local.database_components

  length  = 48
  special = false
}

resource "google_secret_manager_secret" "database_role_passwords" {
  secret_id = "signage-database-role-passwords"
  labels    = local.labels

  replication {
    auto {}
  }

  depends_on = [google_project_service.used]
}

resource "google_secret_manager_secret_version" "database_role_passwords" {
  secret = google_secret_manager_secret.database_role_passwords.id
  secret_data_wo = jsonencode({
    for component in local.database_components :
    local.components[component].role => ephemeral.random_password.database_role[component].result
  })
  secret_data_wo_version = var.secrets_generation

  lifecycle {
    create_before_destroy = true
  }
}

# Read from the stored secret, like the owner's password (database.tf).
ephemeral "google_secret_manager_secret_version" "database_role_passwords" {
  secret  = google_secret_manager_secret_version.database_role_passwords.secret
  version = google_secret_manager_secret_version.database_role_passwords.version
}

resource "google_secret_manager_secret" "component_database_url" {
  for_each = local.database_components

  secret_id = "signage-database-url-${each.key}"
  labels    = local.labels

  replication {
    auto {}
  }

  depends_on = [google_project_service.used]
}

resource "google_secret_manager_secret_version" "component_database_url" {
  for_each = local.database_components

  secret                 = google_secret_manager_secret.component_database_url[each.key].id
  secret_data_wo         = "postgresql://${google_sql_user.this.name}_${local.components[each.key].role}:${jsondecode(ephemeral.google_secret_manager_secret_version.database_role_passwords.secret_data)[local.components[each.key].role]}@${google_sql_database_instance.this.private_ip_address}:5432/${google_sql_database.this.name}${local.database_trust}"
  secret_data_wo_version = var.secrets_generation

  lifecycle {
    create_before_destroy = true
  }
}

# The broker's CA is no secret, but Cloud Run mounts files only from Secret Manager.
resource "google_secret_manager_secret" "broker_ca" {
  count = local.has_broker_ca ? 1 : 0

  secret_id = "signage-broker-ca"
  labels    = local.labels

  replication {
    auto {}
  }

  depends_on = [google_project_service.used]
}

resource "google_secret_manager_secret_version" "broker_ca" {
  count = local.has_broker_ca ? 1 : 0

  secret      = google_secret_manager_secret.broker_ca[0].id
  secret_data = var.broker_ca_pem
}

locals {
  # Component -> environment name -> generated secret. In the cloud there is no secret of a queue or of a provider.
  reads = {
    for name in local.database_components : name => merge(
      { for user in compact([lookup(local.components[name], "user", "")]) : "MQTT_PASSWORD" => "mqtt-${user}-password" },
      { for file in lookup(local.components[name], "secrets", []) : "SIGNING_KEY" => "signing-key" if file == "signing_key" },
    )
  }

  # The secrets of each service: environment name -> {secret, version}. A new version makes a new revision.
  secrets_of = {
    for name, reads in local.reads : name => merge(
      {
        DATABASE_URL = {
          secret  = google_secret_manager_secret.component_database_url[name].secret_id
          version = google_secret_manager_secret_version.component_database_url[name].version
        }
      },
      {
        for setting, secret in reads : setting => {
          secret  = google_secret_manager_secret.generated[secret].secret_id
          version = google_secret_manager_secret_version.generated[secret].version
        }
      },
    )
  }

  # What its account may read. Whoever signs in at the broker checks its certificate.
  readable_by = {
    for name, reads in local.reads : name => merge(
      { database-url = google_secret_manager_secret.component_database_url[name].id },
      { for secret in values(reads) : secret => google_secret_manager_secret.generated[secret].id },
      { for secret in google_secret_manager_secret.broker_ca : "broker-ca" => secret.id if can(reads.MQTT_PASSWORD) },
    )
  }

  broker_ca_files = local.has_broker_ca ? {
    broker-ca = {
      secret  = google_secret_manager_secret.broker_ca[0].secret_id
      version = google_secret_manager_secret_version.broker_ca[0].version
      folder  = "/etc/signage/broker-ca"
      file    = "ca.pem"
    }
  } : {}
}
