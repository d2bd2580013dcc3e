# The document conversion service: Gotenberg, only with its route for office documents.

# Identity: google_service_account.of["converter"] (names.tf).

# Grants: none. It reads the request's document and answers with a PDF.

# Service. Internal ingress; Cloud Run checks the worker's identity token. A new LibreOffice for each document, without
# network for the document's links. It runs below its own init, which reaps processes that LibreOffice leaves. One deck
# for each instance and none waiting, because Gotenberg's timeout counts the wait. After each deck its `/health` answers
# 503 while LibreOffice restarts, so only the startup probe uses it.
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
  memory              = "${local.components["converter"].memory}Gi"
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

  # A variable and no flag: this image has no Chromium and would end at its flags.
  environment = { CHROMIUM_DISABLE_ROUTES = "true" }
}

# Trigger: the worker's requests (convert_worker.tf grants them).
