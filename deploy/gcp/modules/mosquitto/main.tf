# A Mosquitto on its own machine, with the program that copies the logins of the database to its password file, and the
# door for displays that are only a browser. The displays' port is public; the door is reached by the load balancer alone.
# If the machine fails, displays keep their logs and send them again.
resource "google_compute_address" "public" {
  name   = "signage-broker"
  region = regex("^(.*)-[a-z]$", var.zone)[0]
}

resource "google_compute_address" "inside" {
  name         = "signage-broker-inside"
  region       = regex("^(.*)-[a-z]$", var.zone)[0]
  address_type = "INTERNAL"
  subnetwork   = var.subnetwork
}

# The disk with sessions and queued messages survives the machine.
resource "google_compute_disk" "data" {
  #checkov:skip=CKV_GCP_37:Google's own keys encrypt it; what lies there is queued telemetry, hours old at most.
  name   = "signage-broker-data"
  zone   = var.zone
  type   = "pd-ssd"
  size   = 20
  labels = var.labels
}

data "google_compute_image" "cos" {
  family  = "cos-stable"
  project = "cos-cloud"
}

resource "google_compute_instance" "this" {
  #checkov:skip=CKV_GCP_40:Displays connect from the internet; the firewall lets nothing else in.
  #checkov:skip=CKV_GCP_38:Google's own keys encrypt its disks.
  name                      = "signage-broker"
  zone                      = var.zone
  machine_type              = var.machine_type
  labels                    = var.labels
  tags                      = ["signage-broker"]
  allow_stopping_for_update = true
  deletion_protection       = var.deletion_protection

  boot_disk {
    initialize_params {
      image = data.google_compute_image.cos.self_link
      size  = 20
    }
  }

  # Otherwise a newer image of the family would replace the machine at the next apply. Change the image on purpose only
  # (docs/deploying.md, Afterwards).
  lifecycle {
    ignore_changes = [boot_disk]
  }

  attached_disk {
    source      = google_compute_disk.data.id
    device_name = "data"
  }

  network_interface {
    subnetwork = var.subnetwork
    network_ip = google_compute_address.inside.address

    access_config {
      nat_ip = google_compute_address.public.address
    }
  }

  service_account {
    email  = var.service_account
    scopes = ["cloud-platform"] # what it may is its account's grants
  }

  shielded_instance_config {
    enable_secure_boot          = true
    enable_vtpm                 = true
    enable_integrity_monitoring = true
  }

  metadata = {
    block-project-ssh-keys    = "true"
    enable-oslogin            = "true"
    google-logging-enabled    = "true"
    google-monitoring-enabled = "true"
    signage-image             = var.image # the machine looks each minute, and takes another one by itself
    user-data = templatefile("${path.module}/cloud_init.yaml", {
      image         = var.image
      registry      = split("/", var.image)[0]
      host          = var.host
      displays_port = var.displays_port
      services_port = var.services_port
      browsers_port = var.browsers_port
      topic_root    = var.topic_root
      secrets       = var.secrets
    })
  }
}

resource "google_compute_firewall" "displays" {
  name          = "signage-broker-displays"
  network       = var.network
  description   = "Displays, from anywhere, by TLS and with a login."
  source_ranges = ["0.0.0.0/0"]
  target_tags   = ["signage-broker"]

  allow {
    protocol = "tcp"
    ports    = [tostring(var.displays_port)]
  }
}

# The two ranges from which Google's load balancers and their health checks come.
resource "google_compute_firewall" "browsers" {
  name          = "signage-broker-browsers"
  network       = var.network
  description   = "Displays that are only a browser, through the load balancer."
  source_ranges = ["130.211.0.0/22", "35.191.0.0/16"]
  target_tags   = ["signage-broker"]

  allow {
    protocol = "tcp"
    ports    = [tostring(var.browsers_port)]
  }
}

resource "google_compute_firewall" "services" {
  name          = "signage-broker-services"
  network       = var.network
  description   = "Our own services, from their subnetwork only."
  source_ranges = [var.services_range]
  target_tags   = ["signage-broker"]

  allow {
    protocol = "tcp"
    ports    = [tostring(var.services_port)]
  }
}

# What the load balancer sends to.
resource "google_compute_instance_group" "this" {
  name      = "signage-broker"
  zone      = var.zone
  network   = var.network
  instances = [google_compute_instance.this.self_link]

  named_port {
    name = "browsers"
    port = var.browsers_port
  }
}

# Inside the network the broker's name resolves to its internal address, so that services do not use the internet.
resource "google_dns_managed_zone" "inside" {
  #checkov:skip=CKV_GCP_16:A private zone is answered inside the network only; DNSSEC is for public ones.
  name       = "signage-broker"
  dns_name   = "${var.host}."
  visibility = "private"

  private_visibility_config {
    networks {
      network_url = var.network
    }
  }
}

resource "google_dns_record_set" "inside" {
  managed_zone = google_dns_managed_zone.inside.name
  name         = google_dns_managed_zone.inside.dns_name
  type         = "A"
  ttl          = 60
  rrdatas      = [google_compute_address.inside.address]
}
