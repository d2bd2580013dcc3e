variable "project_id" {
  description = "The project."
  type        = string
}

variable "zone" {
  description = "The zone of the machine."
  type        = string
}

variable "machine_type" {
  description = "Its type."
  type        = string
}

variable "labels" {
  description = "Labels of all resources."
  type        = map(string)
}

variable "image" {
  description = "The image with Mosquitto and our own programs, by digest."
  type        = string
}

variable "host" {
  description = "The broker's host name, for which its certificate is."
  type        = string
}

variable "displays_port" {
  description = "Port for displays."
  type        = number
}

variable "services_port" {
  description = "Port for services."
  type        = number
}

variable "browsers_port" {
  description = "Port of the door for displays that are only a browser."
  type        = number
}

variable "topic_root" {
  description = "First level of every topic: rights are given below it."
  type        = string
}

variable "network" {
  description = "The network of the machine."
  type        = string
}

variable "subnetwork" {
  description = "The subnetwork of the machine and of the services that call it."
  type        = string
}

variable "services_range" {
  description = "Addresses of the services that may reach the services' listener."
  type        = string
}

variable "service_account" {
  description = "E-mail of the account that the machine runs as."
  type        = string
}

variable "secrets" {
  description = "Full names of the secrets' versions, by the file that each becomes."
  type        = map(string)
}

variable "deletion_protection" {
  description = "Whether the machine resists `terraform destroy`."
  type        = bool
}
