output "address" {
  description = "Where both host names must point (A records)."
  value       = google_compute_global_address.this.address
}

output "broker_address" {
  description = "Where the broker's host name must point; empty for an external broker."
  value       = one(module.mosquitto[*].address)
}

output "iap_audience" {
  description = "The audience of IAP assertions for the api function (its setting IAP_AUDIENCE)."
  value       = local.iap_audience
}

output "migrations_job" {
  description = "The job that runs the migrations, for an upgrade by hand."
  value       = google_cloud_run_v2_job.migrations.name
}

output "media_bucket" {
  description = "The bucket behind MEDIA_ROOT."
  value       = google_storage_bucket.media.name
}
