variable "name" {
  description = "The component's name without `signage-`."
  type        = string
}

variable "region" {
  description = "Where it runs."
  type        = string
}

variable "labels" {
  description = "Labels of the service."
  type        = map(string)
  default     = {}
}

variable "image" {
  description = "Its image."
  type        = string
}

variable "command" {
  description = "The command in place of the image's entry point; null: the entry point."
  type        = list(string)
  default     = null
}

variable "arguments" {
  description = "Its arguments; null leaves the image's."
  type        = list(string)
  default     = null
}

variable "service_account" {
  description = "E-mail of the account that it runs as."
  type        = string
}

variable "ingress" {
  description = "From where it may be called."
  type        = string
  default     = "INGRESS_TRAFFIC_INTERNAL_ONLY"
}

variable "checks_callers_itself" {
  description = <<-TEXT
    Whether the program authenticates every caller, and Cloud Run none. Cloud Run takes the signature out of the tokens
    that it has checked, so a program that checks them must be the only one to do so.
  TEXT
  type        = bool
  default     = false
}

variable "is_open" {
  description = "Whether its answers are no secret, so that Cloud Run checks no caller."
  type        = bool
  default     = false
}

variable "deletion_protection" {
  description = "Whether it resists `terraform destroy`."
  type        = bool
  default     = true
}

variable "timeout_seconds" {
  description = "Longest time for one request."
  type        = number
  default     = 60
}

variable "concurrency" {
  description = "Requests at once in one instance."
  type        = number
}

variable "min_instances" {
  description = "Instances that are always there."
  type        = number
  default     = 0
}

variable "max_instances" {
  description = "Instances at most."
  type        = number
}

variable "subnetwork" {
  description = "The subnetwork that it reaches private addresses through; null when it needs none."
  type        = string
  default     = null
}

variable "egress" {
  description = "PRIVATE_RANGES_ONLY, or ALL_TRAFFIC for components that call services with internal ingress."
  type        = string
  default     = "PRIVATE_RANGES_ONLY"
}

variable "port" {
  description = "Port on which it listens."
  type        = number
  default     = 8080
}

variable "cpu" {
  description = "CPUs of one instance."
  type        = string
  default     = "1"
}

variable "memory" {
  description = "Memory of one instance."
  type        = string
  default     = "512Mi"
}

variable "cpu_while_idle" {
  description = "Whether it has its CPU between requests too."
  type        = bool
  default     = false
}

variable "environment" {
  description = "Plain environment variables."
  type        = map(string)
  default     = {}
}

variable "secrets" {
  description = "Environment variables that come from Secret Manager: name -> secret and version."
  type        = map(object({ secret = string, version = string }))
  default     = {}
}

variable "secret_files" {
  description = "Files that come from Secret Manager: volume's name -> secret, version, folder and file."
  type        = map(object({ secret = string, version = string, folder = string, file = string }))
  default     = {}
}

variable "media_bucket" {
  description = "The bucket that is mounted as the media volume; null for none."
  type        = string
  default     = null
}

variable "media_root" {
  description = "Where the bucket is mounted."
  type        = string
  default     = "/server/media"
}

variable "probe_path" {
  description = "The path of the startup and liveness probes; null when the service answers nothing without a token."
  type        = string
  default     = null
}

variable "liveness_path" {
  description = "The path of the liveness probe, if `probe_path` fails during normal work; null: the same path."
  type        = string
  default     = null
}

variable "liveness_failures" {
  description = "Failed probes, 30 s apart, after which an instance is replaced."
  type        = number
  default     = 3
}

variable "metrics_sidecar_image" {
  description = "Collector beside it for its /metrics; null for none."
  type        = string
  default     = null
}
