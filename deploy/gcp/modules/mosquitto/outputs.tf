output "address" {
  description = "The public address, for displays."
  value       = google_compute_address.public.address
}

output "instance" {
  description = "The machine's name."
  value       = google_compute_instance.this.name
}
