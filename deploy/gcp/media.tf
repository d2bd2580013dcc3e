# The media volume: a bucket that the api function and the worker mount at MEDIA_ROOT. With a hierarchical namespace a
# rename is atomic, which finished PDFs need.
resource "google_storage_bucket" "media" {
  #checkov:skip=CKV_GCP_78:Buckets with a hierarchical namespace have no versions; what is deleted can be had back for 7 days.
  #checkov:skip=CKV_GCP_62:Every upload, download and deletion is in the service's own audit log; people reach the bucket by it alone.
  name                        = "${var.project_id}-signage-media"
  location                    = var.region
  labels                      = local.labels
  uniform_bucket_level_access = true
  public_access_prevention    = "enforced"
  force_destroy               = !var.deletion_protection

  hierarchical_namespace {
    enabled = true
  }

  soft_delete_policy {
    retention_duration_seconds = 604800
  }

  depends_on = [google_project_service.used]
}
