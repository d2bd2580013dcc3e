variable "project_id" {
  description = "The Google Cloud project that holds everything."
  type        = string
}

variable "region" {
  description = "Where everything runs, such as europe-west1."
  type        = string
}

variable "zone" {
  description = "The zone of the broker's machine; only for broker = \"mosquitto\"."
  type        = string
}

variable "image" {
  description = "The image of deploy/docker/Dockerfile, target `app`, by digest: one image for every function."
  type        = string

  validation {
    condition     = can(regex("@sha256:[0-9a-f]{64}$", var.image))
    error_message = "Name the image by its digest (…@sha256:…): a tag may move between two instances of one revision."
  }
}

variable "box_image" {
  description = "The image of deploy/docker/Dockerfile, target `box`, by digest: the dashboard's nginx and Mosquitto."
  type        = string

  validation {
    condition     = can(regex("@sha256:[0-9a-f]{64}$", var.box_image))
    error_message = "Name the image by its digest (…@sha256:…)."
  }
}

variable "gotenberg_image" {
  description = "The document conversion service, 8.36 or newer, of the kind that is made for Cloud Run."
  type        = string
  default     = "docker.io/gotenberg/gotenberg:8.36-libreoffice-cloudrun"
}

variable "metrics_sidecar_image" {
  description = "Google's collector that reads the bridge's /metrics into Managed Prometheus."
  type        = string
  default     = "us-docker.pkg.dev/cloud-ops-agents-artifacts/cloud-run-gmp-sidecar/cloud-run-gmp-sidecar:1.2.0"
}

variable "people_host" {
  description = "Host name of the dashboard and its API, behind Identity-Aware Proxy."
  type        = string
}

variable "machines_host" {
  description = "Host name for scripts with tokens and for displays that enrol; without Identity-Aware Proxy."
  type        = string
}

variable "people" {
  description = "The people whom Identity-Aware Proxy lets through, such as group:signage@example.com. The service has their roles."
  type        = set(string)
}

variable "alert_email" {
  description = "Where alerts are sent."
  type        = string
}

variable "broker" {
  description = "`mosquitto` sets one up on a machine of its own; `external` is any MQTT 5 broker that is there already."
  type        = string
  default     = "mosquitto"

  validation {
    condition     = contains(["mosquitto", "external"], var.broker)
    error_message = "Expected mosquitto or external."
  }
}

variable "broker_host" {
  description = "The broker's host name, for displays and services alike; its certificate is for this name."
  type        = string
}

variable "broker_displays_port" {
  description = "Port of the broker's listener for displays (TLS)."
  type        = number
  default     = 8883
}

variable "broker_services_port" {
  description = "Port of the broker's listener for services (TLS)."
  type        = number
  default     = 8884
}

variable "broker_ca_pem" {
  description = "The CA of the broker's certificate, PEM; empty for a public one. It is no secret."
  type        = string
  default     = ""
}

variable "broker_certificate_pem" {
  description = "For broker = \"mosquitto\": its certificate and those between it and its CA, PEM."
  type        = string
  default     = ""

  validation {
    condition     = var.broker != "mosquitto" || startswith(var.broker_certificate_pem, "-----BEGIN CERTIFICATE-----")
    error_message = "A Mosquitto of our own needs a certificate: displays connect by TLS."
  }
}

variable "broker_key_pem" {
  description = "For broker = \"mosquitto\": the certificate's private key, PEM. Give it as TF_VAR_broker_key_pem; it is kept in Secret Manager only."
  type        = string
  default     = ""
  sensitive   = true
  ephemeral   = true

  validation {
    condition     = var.broker != "mosquitto" || strcontains(var.broker_key_pem, "PRIVATE KEY-----")
    error_message = "A Mosquitto of our own needs the key of its certificate: set TF_VAR_broker_key_pem."
  }
}

variable "secrets_generation" {
  description = "Raise it by one to replace every generated secret (docs/deploying.md lists the interruptions)."
  type        = number
  default     = 1
}

variable "crash_recovery_enabled" {
  description = "CRASH_RECOVERY_ENABLED: whether the tick restarts and reboots displays. Every component gets it."
  type        = bool
  default     = false
}

variable "conversion_deadline_seconds" {
  description = "CONVERSION_DEADLINE_SECONDS (D); every other timeout of a conversion follows from it."
  type        = number
  default     = 120

  validation {
    condition     = var.conversion_deadline_seconds >= 5 && var.conversion_deadline_seconds <= 1200
    error_message = "A deck may take 5 to 1200 seconds: Cloud Tasks waits at most 30 minutes for the worker around it."
  }
}

variable "conversions_at_once" {
  description = "How many decks are converted at the same time."
  type        = number
  default     = 4
}

variable "api_min_instances" {
  description = "0 costs nothing without requests, but then a cold start takes about two seconds."
  type        = number
  default     = 1
}

variable "api_max_instances" {
  description = "Upper limit of the api function; an apply is refused where its connections do not fit into the database."
  type        = number
  default     = 6
}

variable "api_database_pool_size" {
  description = "DATABASE_POOL_SIZE of the api function: connections that one instance may hold. Further requests wait for one of them."
  type        = number
  default     = 5

  validation {
    condition     = var.api_database_pool_size >= 1
    error_message = "An instance needs a connection."
  }
}

variable "database_max_connections" {
  description = "max_connections of the Postgres; some 5 MB of its memory each."
  type        = number
  default     = 200
}

variable "database_tier" {
  description = "Machine type of the Postgres."
  type        = string
  default     = "db-custom-2-8192"
}

variable "database_is_regional" {
  description = "Whether the Postgres has a standby in a second zone (twice the price)."
  type        = bool
  default     = true
}

variable "database_disk_gb" {
  description = "First size of the database's disk; it grows by itself."
  type        = number
  default     = 20
}

variable "broker_machine_type" {
  description = "Machine type of the Mosquitto."
  type        = string
  default     = "e2-small"
}

variable "deletion_protection" {
  description = "Whether the database, the services and the bucket resist `terraform destroy`."
  type        = bool
  default     = true
}

variable "shard" {
  description = "Name of this stack on a broker that it shares with others: the first level of its topics, and before the names of its logins (docs/scaling.md). Empty: the broker is its own."
  type        = string
  default     = ""

  validation {
    condition     = can(regex("^([a-z][a-z0-9]{0,15})?$", var.shard))
    error_message = "Up to sixteen small letters and digits."
  }

  validation {
    condition     = var.shard == "" || var.broker == "external"
    error_message = "Only an external broker can be shared: this Mosquitto reads the displays' logins of one database."
  }
}

variable "settings" {
  description = "Further settings of the product for every component, by name (docs/reference.md)."
  type        = map(string)
  default     = {}

  validation {
    condition     = !contains(keys(var.settings), "DATABASE_POOL_SIZE")
    error_message = "Connections are counted (database.tf): set api_database_pool_size."
  }

  validation {
    condition = length(setintersection(keys(var.settings), [
      "BRIDGE_HEALTH_PORT", "CONVERSION_DEADLINE_SECONDS", "CONVERTER_URL", "CONVERT_WORKER_URL",
      "CRASH_RECOVERY_ENABLED", "DATABASE_URL", "DEPLOYMENT_MODE", "DISPLAYS_CA_FILE", "DISPLAYS_MQTT_URL",
      "IAP_AUDIENCE", "MEDIA_ROOT", "MQTT_PASSWORD", "MQTT_URL",
      "MQTT_USERNAME", "PUBLIC_URL", "QUEUE_URL", "SCHEDULER_SERVICE_ACCOUNT", "SCHEDULER_TICK_URL", "SIGNING_KEY",
      "TASKS_SERVICE_ACCOUNT", "TRUSTED_PROXY_HOPS",
    ])) == 0
    error_message = "The module sets this setting itself, for some of them by a variable of its own (crash_recovery_enabled, conversion_deadline_seconds, people_host, broker_host)."
  }
}

variable "billing_account" {
  description = "The billing account, as 000000-000000-000000, for an alert by e-mail when a month costs more than `monthly_budget`. The person who applies needs the right to make budgets there. Empty: no such alert."
  type        = string
  default     = ""
}

variable "monthly_budget" {
  description = "The budget for a month, in whole units of the billing account's currency."
  type        = number
  default     = 500
}
