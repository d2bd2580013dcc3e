output "name" {
  description = "The service's full name."
  value       = google_cloud_run_v2_service.this.name
}
