# One address, two host names: one for people, behind Identity-Aware Proxy, one for machines, without it. Both lead to the
# same api function, which denies by default. Under the machines' name there is only /api/. Displays and readers of a
# public status page use the people's name, as the dashboard shows it; only their few paths are without the proxy there.
resource "google_compute_global_address" "this" {
  name = "signage"

  depends_on = [google_project_service.used]
}

resource "google_compute_managed_ssl_certificate" "this" {
  name = "signage"

  managed {
    domains = [var.people_host, var.machines_host]
  }

  depends_on = [google_project_service.used]
}

resource "google_compute_ssl_policy" "this" {
  name            = "signage"
  profile         = "RESTRICTED"
  min_tls_version = "TLS_1_2"

  depends_on = [google_project_service.used]
}

# By name and not by the service's attribute, so that a service can get the audience of its own backend.
resource "google_compute_region_network_endpoint_group" "of" {
  for_each = toset(["api", "dashboard"])

  name                  = "signage-${each.key}"
  region                = var.region
  network_endpoint_type = "SERVERLESS"

  cloud_run {
    service = "signage-${each.key}"
  }

  depends_on = [google_project_service.used]
}

# People: the dashboard's files and /api/, both behind Identity-Aware Proxy.
resource "google_compute_backend_service" "people" {
  for_each = toset(["api", "dashboard"])

  name                    = "signage-people-${each.key}"
  load_balancing_scheme   = "EXTERNAL_MANAGED"
  security_policy         = google_compute_security_policy.this.id
  custom_response_headers = local.strict_transport

  backend {
    group = google_compute_region_network_endpoint_group.of[each.key].id
  }

  # Google's own OAuth client, for people of the project's organisation. Set another client with gcloud, so that its
  # secret is in no state; Terraform does not change it (docs/deploying.md, The first time).
  iap {
    enabled = true
  }

  lifecycle {
    ignore_changes = [iap[0].oauth2_client_id, iap[0].oauth2_client_secret]
  }

  log_config {
    enable      = true
    sample_rate = 1
  }
}

locals {
  # For a year browsers use only TLS.
  strict_transport = ["Strict-Transport-Security: max-age=31536000; includeSubDomains"]

  # The audience of assertions for the api function, which accepts no other one (IAP_AUDIENCE).
  iap_audience = "/projects/${data.google_project.this.number}/global/backendServices/${google_compute_backend_service.people["api"].generated_id}"
}

resource "google_iap_web_backend_service_iam_member" "people" {
  for_each = { for pair in setproduct(["api", "dashboard"], var.people) : "${pair[0]} ${pair[1]}" => pair }

  web_backend_service = google_compute_backend_service.people[each.value[0]].name
  role                = "roles/iap.httpsResourceAccessor"
  member              = each.value[1]
}

# Machines: scripts with tokens, and displays that enrol.
resource "google_compute_backend_service" "machines" {
  name                    = "signage-machines"
  load_balancing_scheme   = "EXTERNAL_MANAGED"
  security_policy         = google_compute_security_policy.this.id
  custom_response_headers = local.strict_transport

  backend {
    group = google_compute_region_network_endpoint_group.of["api"].id
  }

  log_config {
    enable      = true
    sample_rate = 1
  }
}

# Files for which nobody signs in: the displays' agent and client for browsers, and the public status page.
resource "google_compute_backend_service" "displays" {
  name                    = "signage-displays"
  load_balancing_scheme   = "EXTERNAL_MANAGED"
  security_policy         = google_compute_security_policy.this.id
  custom_response_headers = local.strict_transport

  backend {
    group = google_compute_region_network_endpoint_group.of["dashboard"].id
  }

  log_config {
    enable      = true
    sample_rate = 1
  }
}

# Displays that are only a browser: MQTT over WebSocket. The display signs in at the broker.
resource "google_compute_health_check" "browsers" {
  count = local.is_mosquitto ? 1 : 0

  name = "signage-browsers"

  https_health_check {
    port_specification = "USE_SERVING_PORT"
    request_path       = "/healthz"
  }

  depends_on = [google_project_service.used]
}

resource "google_compute_backend_service" "browsers" {
  count = local.is_mosquitto ? 1 : 0

  name                  = "signage-browsers"
  load_balancing_scheme = "EXTERNAL_MANAGED"
  security_policy       = google_compute_security_policy.this.id
  health_checks         = [google_compute_health_check.browsers[0].id]
  protocol              = "HTTPS"
  port_name             = "browsers"
  timeout_sec           = 86400 # the longest life of one connection; the broker ends those whose display is gone

  backend {
    group           = module.mosquitto[0].group
    balancing_mode  = "UTILIZATION"
    capacity_scaler = 1
  }

  log_config {
    enable      = true
    sample_rate = 1
  }
}

# Only against floods; the service checks rights itself. 20 requests a second from one address are more than a dashboard
# in several tabs makes.
resource "google_compute_security_policy" "this" {
  name = "signage"

  rule {
    action      = "deny(403)"
    priority    = 900
    description = "Log4j lookups and the like (CVE-2021-44228)"
    match {
      expr {
        expression = "evaluatePreconfiguredWaf('cve-canary')"
      }
    }
  }

  rule {
    action      = "throttle"
    priority    = 1000
    description = "A limit for each address"
    match {
      versioned_expr = "SRC_IPS_V1"
      config {
        src_ip_ranges = ["*"]
      }
    }
    rate_limit_options {
      conform_action = "allow"
      exceed_action  = "deny(429)"
      enforce_on_key = "IP"
      rate_limit_threshold {
        count        = 1200
        interval_sec = 60
      }
    }
  }

  rule {
    action      = "allow"
    priority    = 2147483647
    description = "Everything else"
    match {
      versioned_expr = "SRC_IPS_V1"
      config {
        src_ip_ranges = ["*"]
      }
    }
  }

  depends_on = [google_project_service.used]
}

resource "google_compute_url_map" "this" {
  name            = "signage"
  default_service = google_compute_backend_service.people["dashboard"].id # behind IAP: an unknown name tells nothing

  host_rule {
    hosts        = [var.people_host]
    path_matcher = "people"
  }

  path_matcher {
    name            = "people"
    default_service = google_compute_backend_service.people["dashboard"].id

    path_rule {
      paths   = ["/api", "/api/*"]
      service = google_compute_backend_service.people["api"].id
    }

    path_rule {
      paths   = ["/api/enroll", "/api/display/*", "/api/status"]
      service = google_compute_backend_service.machines.id
    }

    path_rule {
      paths   = ["/display/*"]
      service = google_compute_backend_service.displays.id
    }

    # The public status page with what it imports.
    path_rule {
      paths = [
        "/status.html", "/status.js", "/status.css", "/style.css", "/icon.svg", "/lib/*", "/vendor/*", "/views/*",
      ]
      service = google_compute_backend_service.displays.id
    }

    dynamic "path_rule" {
      for_each = google_compute_backend_service.browsers
      content {
        paths   = ["/mqtt"]
        service = path_rule.value.id
      }
    }
  }

  host_rule {
    hosts        = [var.machines_host]
    path_matcher = "machines"
  }

  # Everything goes to the api function, which answers 404 outside of /api/.
  path_matcher {
    name            = "machines"
    default_service = google_compute_backend_service.machines.id
  }
}

resource "google_compute_target_https_proxy" "this" {
  name             = "signage"
  url_map          = google_compute_url_map.this.id
  ssl_certificates = [google_compute_managed_ssl_certificate.this.id]
  ssl_policy       = google_compute_ssl_policy.this.id
}

resource "google_compute_global_forwarding_rule" "https" {
  name                  = "signage-https"
  load_balancing_scheme = "EXTERNAL_MANAGED"
  ip_address            = google_compute_global_address.this.id
  port_range            = "443"
  target                = google_compute_target_https_proxy.this.id
}

# Plain HTTP: browsers are redirected to HTTPS. Requests to the api are refused, under both names: with a redirect a
# script with an http:// address would send its token unencrypted each time, and nobody would notice.
resource "google_compute_security_policy" "plain" {
  #checkov:skip=CKV_GCP_73:It refuses everything, lookups of Log4j among it.
  name = "signage-plain"

  rule {
    action      = "deny(403)"
    priority    = 2147483647
    description = "Everything: it came without TLS"
    match {
      versioned_expr = "SRC_IPS_V1"
      config {
        src_ip_ranges = ["*"]
      }
    }
  }

  depends_on = [google_project_service.used]
}

resource "google_compute_backend_service" "plain" {
  name                  = "signage-plain"
  load_balancing_scheme = "EXTERNAL_MANAGED"
  security_policy       = google_compute_security_policy.plain.id

  # A backend service needs one; the policy lets no request reach it.
  backend {
    group = google_compute_region_network_endpoint_group.of["api"].id
  }

  log_config {
    enable      = true
    sample_rate = 1
  }
}

resource "google_compute_url_map" "to_https" {
  name            = "signage-to-https"
  default_service = google_compute_backend_service.plain.id

  host_rule {
    hosts        = [var.people_host]
    path_matcher = "people"
  }

  path_matcher {
    name = "people"

    default_url_redirect {
      https_redirect         = true
      redirect_response_code = "MOVED_PERMANENTLY_DEFAULT"
      strip_query            = false
    }

    path_rule {
      paths   = ["/api", "/api/*"]
      service = google_compute_backend_service.plain.id
    }
  }
}

resource "google_compute_target_http_proxy" "to_https" {
  name    = "signage-to-https"
  url_map = google_compute_url_map.to_https.id
}

resource "google_compute_global_forwarding_rule" "to_https" {
  name                  = "signage-to-https"
  load_balancing_scheme = "EXTERNAL_MANAGED"
  ip_address            = google_compute_global_address.this.id
  port_range            = "80"
  target                = google_compute_target_http_proxy.to_https.id
}
