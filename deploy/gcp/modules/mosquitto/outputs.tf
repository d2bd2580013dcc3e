output "address" {
  description = "The public address, for displays."
  value       = google_compute_address.public.address
}

output "group" {
  description = "The instance group with the machine; its port `browsers` takes MQTT over WebSocket, by TLS."
  value       = google_compute_instance_group.this.id
}

output "instance" {
  description = "The machine's name."
  value       = google_compute_instance.this.name
}
