# The dashboard's files, from the same nginx and with the same headers as on one machine. A service can be behind
# Identity-Aware Proxy; a bucket cannot.

# Identity: google_service_account.of["dashboard"] (names.tf).

# Grants: none. Only Identity-Aware Proxy's agent may call it.
resource "google_cloud_run_v2_service_iam_member" "iap_calls_dashboard" {
  location = var.region
  name     = module.dashboard.name
  role     = "roles/run.invoker"
  member   = "serviceAccount:service-${data.google_project.this.number}@gcp-sa-iap.iam.gserviceaccount.com"
}

# Service.
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
  deletion_protection = var.deletion_protection
  concurrency         = 200
  max_instances       = 3

  environment = { DASHBOARD_HOST = var.people_host }
}

# Trigger: the load balancer, under the people's host name (load_balancer.tf).
