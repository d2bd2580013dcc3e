# One private network: in it functions and bridge reach the database and the broker, and Google's services through Private
# Google Access. From outside only the broker's listener for displays is reachable.
resource "google_compute_network" "this" {
  name                    = "signage"
  auto_create_subnetworks = false

  depends_on = [google_project_service.used]
}

resource "google_compute_subnetwork" "services" {
  name                     = "signage-services"
  region                   = var.region
  network                  = google_compute_network.this.id
  ip_cidr_range            = "10.20.0.0/22" # an instance takes two addresses, and while a revision is replaced both are there
  private_ip_google_access = true

  log_config {
    aggregation_interval = "INTERVAL_10_MIN"
    flow_sampling        = 0.1
    metadata             = "INCLUDE_ALL_METADATA"
  }
}

# The peering with Cloud SQL's network.
resource "google_compute_global_address" "cloud_sql" {
  name          = "signage-cloud-sql"
  purpose       = "VPC_PEERING"
  address_type  = "INTERNAL"
  prefix_length = 20
  network       = google_compute_network.this.id
}

resource "google_service_networking_connection" "cloud_sql" {
  network                 = google_compute_network.this.id
  service                 = "servicenetworking.googleapis.com"
  reserved_peering_ranges = [google_compute_global_address.cloud_sql.name]
}
