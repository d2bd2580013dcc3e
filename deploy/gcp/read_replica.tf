# The replica: history is read there (docs/scaling.md). Nothing is lost with it, so that it has neither a standby of its own
# nor backups; the database, its roles and their passwords are the primary's. Each instance of the api holds a second pool
# of the same size here: less than half of the sum above, and max_connections is the same, since a standby refuses to
# follow with less.
resource "google_sql_database_instance" "read_replica" {
  #checkov:skip=CKV_GCP_14:It is a copy; what it is a copy of has backups.
  #checkov:skip=CKV_GCP_79:It has the version of the primary.
  #checkov:skip=CKV_GCP_6:As for the primary.
  #checkov:skip=CKV2_GCP_13:As for the primary.
  count = var.database_read_replica ? 1 : 0

  name                 = "signage-read"
  region               = var.region
  database_version     = google_sql_database_instance.this.database_version
  master_instance_name = google_sql_database_instance.this.name
  deletion_protection  = var.deletion_protection

  settings {
    edition                     = "ENTERPRISE"
    tier                        = var.database_tier
    availability_type           = "ZONAL"
    disk_type                   = "PD_SSD"
    disk_size                   = var.database_disk_gb
    disk_autoresize             = true
    deletion_protection_enabled = var.deletion_protection
    user_labels                 = local.labels

    ip_configuration {
      ipv4_enabled    = false
      private_network = google_compute_network.this.id
      ssl_mode        = "ENCRYPTED_ONLY"
    }

    insights_config {
      query_insights_enabled = true
    }

    # What a query reads here is not cleaned away there: it would be given up and asked of the primary. Ours end
    # within eight seconds.
    dynamic "database_flags" {
      for_each = merge(local.database_flags, { hot_standby_feedback = "on" })
      content {
        name  = database_flags.key
        value = database_flags.value
      }
    }
  }
}

# The replica has an authority of its own.
locals {
  database_read_trust = var.database_read_replica ? "?sslmode=verify-ca&sslrootcert=base64:${urlencode(base64encode(google_sql_database_instance.read_replica[0].server_ca_cert[0].cert))}" : ""
}

# DATABASE_READ_URL, where there is a replica: the login of the api at another address.
resource "google_secret_manager_secret" "database_read_url" {
  count = var.database_read_replica ? 1 : 0

  secret_id = "signage-database-read-url"
  labels    = local.labels

  replication {
    auto {}
  }

  depends_on = [google_project_service.used]
}

resource "google_secret_manager_secret_version" "database_read_url" {
  count = var.database_read_replica ? 1 : 0

  secret                 = google_secret_manager_secret.database_read_url[0].id
  secret_data_wo         = "postgresql://${google_sql_user.this.name}_api:${jsondecode(ephemeral.google_secret_manager_secret_version.database_role_passwords.secret_data).api}@${google_sql_database_instance.read_replica[0].private_ip_address}:5432/${google_sql_database.this.name}${local.database_read_trust}"
  secret_data_wo_version = var.secrets_generation

  lifecycle {
    create_before_destroy = true
    replace_triggered_by  = [google_sql_database_instance.read_replica[0].private_ip_address]
  }
}

locals {
  database_read_url_secret = var.database_read_replica ? {
    DATABASE_READ_URL = {
      secret  = google_secret_manager_secret.database_read_url[0].secret_id
      version = google_secret_manager_secret_version.database_read_url[0].version
    }
  } : {}
}
