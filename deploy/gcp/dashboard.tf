# The dashboard's files and those for displays, from the same nginx and with the same headers as on one machine. A
# service can be behind Identity-Aware Proxy; a bucket cannot.

# Identity: google_service_account.of["dashboard"] (names.tf).

# Grants: none.

# Service. Its files are no secret, and displays come without the proxy, so Cloud Run checks no caller.
module "dashboard" {
  source = "./modules/run_service"

  name                = "dashboard"
  region              = var.region
  labels              = local.labels
  image               = var.box_image
  command             = ["tini", "--", "python", "-m", "deploy.box.dashboard"]
  arguments           = []
  service_account     = google_service_account.of["dashboard"].email
  ingress             = "INGRESS_TRAFFIC_INTERNAL_LOAD_BALANCER"
  is_open             = true
  deletion_protection = var.deletion_protection
  concurrency         = 200
  max_instances       = 3

  environment = { DASHBOARD_HOST = var.people_host }
}

# Trigger: the load balancer, under the people's host name (load_balancer.tf).
