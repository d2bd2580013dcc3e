# The migrations: a job that runs to its end before any component gets a new image. Old code works after each migration,
# so the running components keep serving.

# Identity: google_service_account.of["migrations"] (names.tf).

# Grants: the database's address as its owner, and the passwords of the components' roles.
resource "google_secret_manager_secret_iam_member" "migrations_reads" {
  for_each = {
    database-url            = google_secret_manager_secret.database_url.id
    database-role-passwords = google_secret_manager_secret.database_role_passwords.id
  }

  secret_id = each.value
  role      = "roles/secretmanager.secretAccessor"
  member    = google_service_account.of["migrations"].member
}

# Service.
resource "google_cloud_run_v2_job" "migrations" {
  name                = "signage-migrations"
  location            = var.region
  labels              = local.labels
  deletion_protection = var.deletion_protection

  template {
    task_count  = 1
    parallelism = 1

    template {
      service_account = google_service_account.of["migrations"].email
      max_retries     = 0
      timeout         = "600s"

      vpc_access {
        egress = "PRIVATE_RANGES_ONLY"
        network_interfaces {
          subnetwork = google_compute_subnetwork.services.id
        }
      }

      containers {
        image   = var.image
        command = ["tini", "--", "python", "-m"]
        args    = ["deploy.box.migrations"] # the first admin is added by the same job with other arguments

        resources {
          limits = { cpu = "1", memory = "512Mi" }
        }

        env {
          name  = "DEPLOYMENT_MODE"
          value = "cloud"
        }

        env {
          name = "DATABASE_URL"
          value_source {
            secret_key_ref {
              secret  = google_secret_manager_secret.database_url.secret_id
              version = google_secret_manager_secret_version.database_url.version
            }
          }
        }

        env {
          name = "DATABASE_ROLE_PASSWORDS"
          value_source {
            secret_key_ref {
              secret  = google_secret_manager_secret.database_role_passwords.secret_id
              version = google_secret_manager_secret_version.database_role_passwords.version
            }
          }
        }
      }
    }
  }

  depends_on = [google_secret_manager_secret_iam_member.migrations_reads]
}

# Trigger: every apply with another image, or with other passwords for the components' roles. Components depend on it: if
# it fails, none of them changes.
resource "terraform_data" "migrated" {
  triggers_replace = [
    var.image, google_cloud_run_v2_job.migrations.id,
    google_secret_manager_secret_version.database_role_passwords.version,
  ]

  provisioner "local-exec" {
    command = "gcloud run jobs execute ${google_cloud_run_v2_job.migrations.name} --project=${var.project_id} --region=${var.region} --wait"
  }
}
