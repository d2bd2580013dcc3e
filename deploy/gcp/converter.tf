# The document conversion service: Gotenberg, with nothing but its route for office documents.

# Identity: google_service_account.of["converter"] (names.tf).

# Grants: none. It reads what it is sent and answers with a PDF.

# Service. Internal ingress, and Cloud Run checks the worker's identity token. A fresh LibreOffice for each document,
# no fetching from anywhere, no network for what a document links to. Below its own init, which buries what LibreOffice
# leaves behind. One deck an instance, and none behind it: Gotenberg's time for a deck would run while it waits, and its
# `/health` says 503 while LibreOffice starts again after each deck, so that only its start is judged by it.
module "converter" {
  source = "./modules/run_service"

  name                = "converter"
  region              = var.region
  labels              = local.labels
  image               = var.gotenberg_image
  command             = ["/usr/bin/tini", "--", "gotenberg"]
  service_account     = google_service_account.of["converter"].email
  deletion_protection = var.deletion_protection
  timeout_seconds     = var.conversion_deadline_seconds + 15
  concurrency         = 1
  max_instances       = var.conversions_at_once
  port                = 3000
  cpu                 = "2"
  memory              = "4Gi"
  cpu_while_idle      = true # LibreOffice starts again when the answer has been sent
  probe_path          = "/health"
  liveness_path       = "/version"

  arguments = [
    "--api-timeout=${var.conversion_deadline_seconds}s",
    "--api-disable-download-from=true",
    "--libreoffice-auto-start=true",
    "--libreoffice-restart-after=1",
    "--libreoffice-max-queue-size=1",
    "--libreoffice-start-timeout=60s",
    "--libreoffice-deny-private-ips=true",
    "--libreoffice-deny-public-ips=true",
    "--webhook-disable=true",
  ]

  # No flag: this image has no Chromium, knows no flag of it and ends at one. The whole image obeys the variable.
  environment = { CHROMIUM_DISABLE_ROUTES = "true" }
}

# Trigger: the worker's requests (convert_worker.tf grants them).
