# One component on Cloud Run: the common parts of all components. Identity, grants and trigger of each are in its own file
# (../../api.tf and so on).
resource "google_cloud_run_v2_service" "this" {
  name                 = "signage-${var.name}"
  location             = var.region
  labels               = var.labels
  ingress              = var.ingress
  invoker_iam_disabled = var.checks_callers_itself || var.is_open
  deletion_protection  = var.deletion_protection

  template {
    service_account                  = var.service_account
    timeout                          = "${var.timeout_seconds}s"
    max_instance_request_concurrency = var.concurrency
    execution_environment            = "EXECUTION_ENVIRONMENT_GEN2"

    scaling {
      min_instance_count = var.min_instances
      max_instance_count = var.max_instances
    }

    dynamic "vpc_access" {
      for_each = var.subnetwork == null ? [] : [var.subnetwork]
      content {
        egress = var.egress
        network_interfaces {
          subnetwork = vpc_access.value
        }
      }
    }

    containers {
      name    = "main"
      image   = var.image
      command = var.command
      args    = var.arguments

      ports {
        container_port = var.port
      }

      resources {
        limits            = { cpu = var.cpu, memory = var.memory }
        cpu_idle          = var.cpu_while_idle ? false : true
        startup_cpu_boost = true
      }

      dynamic "env" {
        for_each = var.environment
        content {
          name  = env.key
          value = env.value
        }
      }

      dynamic "env" {
        for_each = var.secrets
        content {
          name = env.key
          value_source {
            secret_key_ref {
              secret  = env.value.secret
              version = env.value.version
            }
          }
        }
      }

      dynamic "volume_mounts" {
        for_each = var.media_bucket == null ? [] : [var.media_root]
        content {
          name       = "media"
          mount_path = volume_mounts.value
        }
      }

      dynamic "volume_mounts" {
        for_each = var.secret_files
        content {
          name       = volume_mounts.key
          mount_path = volume_mounts.value.folder
        }
      }

      # Path null: only check that the port accepts connections, because the service refuses unauthenticated probes.
      startup_probe {
        period_seconds    = 2
        timeout_seconds   = 2
        failure_threshold = 60

        dynamic "http_get" {
          for_each = var.probe_path == null ? [] : [var.probe_path]
          content {
            path = http_get.value
            port = var.port
          }
        }

        dynamic "tcp_socket" {
          for_each = var.probe_path == null ? [var.port] : []
          content {
            port = tcp_socket.value
          }
        }
      }

      # Slow on purpose: the service waits for a database that is away for minutes; a restart would not help.
      dynamic "liveness_probe" {
        for_each = var.probe_path == null ? [] : [coalesce(var.liveness_path, var.probe_path)]
        content {
          period_seconds    = 30
          timeout_seconds   = 5
          failure_threshold = var.liveness_failures

          http_get {
            path = liveness_probe.value
            port = var.port
          }
        }
      }
    }

    # Copies the main container's /metrics (port 8080) to Managed Prometheus.
    dynamic "containers" {
      for_each = var.metrics_sidecar_image == null ? [] : [var.metrics_sidecar_image]
      content {
        name       = "metrics"
        image      = containers.value
        depends_on = ["main"]

        # Cloud Run allows less than one CPU only with billing by request; the bridge always runs.
        resources {
          limits = { cpu = "1", memory = "256Mi" }
        }
      }
    }

    dynamic "volumes" {
      for_each = var.media_bucket == null ? [] : [var.media_bucket]
      content {
        name = "media"
        gcs {
          bucket    = volumes.value
          read_only = false
          # The image's user is not root; without these options it could not write.
          mount_options = ["uid=10001", "gid=10001", "file-mode=640", "dir-mode=750"]
        }
      }
    }

    dynamic "volumes" {
      for_each = var.secret_files
      content {
        name = volumes.key
        secret {
          secret       = volumes.value.secret
          default_mode = 292 # 0444
          items {
            path    = volumes.value.file
            version = volumes.value.version
          }
        }
      }
    }
  }
}
