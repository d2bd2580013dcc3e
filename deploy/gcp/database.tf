# The Postgres of all components: only a private address, only encrypted connections.

# The limit of connections: every instance of every component holds its whole pool. Twice all of them, because the old
# revision still runs while a new one takes over, each up to its own limit. In addition the broker's accounts, the
# migrations, a job by hand, and 15 that Postgres and Cloud SQL reserve.
locals {
  pool_size            = 5 # DATABASE_POOL_SIZE of everything but the api
  tick_max_instances   = 2
  bridge_instances     = 2
  instances_beside_api = var.conversions_at_once + local.tick_max_instances + local.bridge_instances
  pools_at_once        = var.api_database_pool_size * var.api_max_instances + local.pool_size * local.instances_beside_api
  connections_wanted   = 2 * local.pools_at_once + local.pool_size + 2 + 15
}

# Settings of Postgres.
locals {
  database_flags = {
    "max_connections"         = tostring(var.database_max_connections) # nobody may find all of them taken: see the sum above
    "cloudsql.enable_pgaudit" = "on"
    "log_checkpoints"         = "on"
    "log_connections"         = "on"
    "log_disconnections"      = "on"
    "log_duration"            = "off"
    "log_hostname"            = "on"
    "log_lock_waits"          = "on"
    "log_min_error_statement" = "error"
    "log_min_messages"        = "warning"
    "log_statement"           = "ddl"
    "log_temp_files"          = "0"
  }
}

# The trust of connections to Postgres: each instance has its own CA, and its certificate has no address to check.
locals {
  database_trust = "?sslmode=verify-ca&sslrootcert=base64:${urlencode(base64encode(google_sql_database_instance.this.server_ca_cert[0].cert))}"
}

resource "google_sql_database_instance" "this" {
  #checkov:skip=CKV_GCP_79:The major version is moved on purpose, with a backup taken before, not by being the newest.
  #checkov:skip=CKV_GCP_6:ENCRYPTED_ONLY refuses every plain connection; client certificates would be one more secret for what the private network and the password already decide.
  #checkov:skip=CKV2_GCP_13:A line for each of some thousand statements a minute buries the others; slow ones are in Query Insights.
  name                = "signage"
  region              = var.region
  database_version    = "POSTGRES_16"
  deletion_protection = var.deletion_protection

  settings {
    edition                     = "ENTERPRISE"
    tier                        = var.database_tier
    availability_type           = var.database_is_regional ? "REGIONAL" : "ZONAL"
    disk_type                   = "PD_SSD"
    disk_size                   = var.database_disk_gb
    disk_autoresize             = true
    deletion_protection_enabled = var.deletion_protection
    user_labels                 = local.labels

    ip_configuration {
      ipv4_enabled    = false
      private_network = google_compute_network.this.id
      # The components check the CA of the server's certificate (local.database_trust).
      ssl_mode = "ENCRYPTED_ONLY"
    }

    backup_configuration {
      enabled                        = true
      start_time                     = "02:00"
      point_in_time_recovery_enabled = true
      transaction_log_retention_days = 7
      backup_retention_settings {
        retained_backups = 14
      }
    }

    maintenance_window {
      day          = 7
      hour         = 3
      update_track = "stable"
    }

    insights_config {
      query_insights_enabled = true
    }

    dynamic "database_flags" {
      for_each = local.database_flags
      content {
        name  = database_flags.key
        value = database_flags.value
      }
    }
  }

  lifecycle {
    precondition {
      condition     = local.connections_wanted <= var.database_max_connections
      error_message = "These instances may want ${local.connections_wanted} connections at once: raise database_max_connections (and see to the memory of database_tier), or lower api_database_pool_size or api_max_instances."
    }
  }

  depends_on = [google_service_networking_connection.cloud_sql]
}

resource "google_sql_database" "this" {
  name     = "signage"
  instance = google_sql_database_instance.this.name
}

# Its password comes from the stored secret and not from the generator. Otherwise an interrupted apply could leave the
# role and DATABASE_URL with different passwords.
resource "google_sql_user" "this" {
  name                = "signage"
  instance            = google_sql_database_instance.this.name
  password_wo         = ephemeral.google_secret_manager_secret_version.database_password.secret_data
  password_wo_version = var.secrets_generation
}
