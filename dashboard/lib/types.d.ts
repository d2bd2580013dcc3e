/** What the API answers, as the dashboard reads it. Times are RFC 3339 in UTC. */

export type Status = "running" | "late" | "stale" | "crashed" | "starting" | "stopped" | "unknown";
export type Action = "restart_app" | "reboot_host" | "shutdown_host";
export type CommandState =
  | "queued" | "sent" | "received" | "running"
  | "succeeded" | "failed" | "rejected" | "expired" | "timed_out" | "cancelled";
export type Level = "debug" | "info" | "warning" | "error" | "critical";
export type Role = "viewer" | "operator" | "admin";

export interface Recovery {
  state: string;
  why: string;
  until: string | null;
  step: number | null;
}

export interface Command {
  id: string;
  client_uuid: string;
  action: Action;
  state: CommandState;
  source: "operator" | "recovery" | "bulk";
  reason: string;
  outcome_reason: string | null;
  requested_by: string;
  created_at: string;
  expires_at: string;
  sent_at: string | null;
  received_at: string | null;
  running_at: string | null;
  result_deadline?: string | null;
  finished_at: string | null;
  late_state: string | null;
  late_at: string | null;
  confirmed_by: string | null;
}

export interface Client {
  uuid: string;
  name: string;
  site: string | null;
  tags: string[];
  process_status: string;
  status: Status;
  status_since: string;
  last_heartbeat_at: string | null;
  screen_health: string;
  service_failed_at: string | null;
  service_failed_unit: string | null;
  mqtt_reconnect_count: number | null;
  mqtt_last_disconnect_at: string | null;
  presence: string;
  app_version: string | null;
  ip: string | null;
  hostname: string | null;
  lockout_until: string | null;
  recovery: Recovery | null;
  open_command: Partial<Command> | null;
  service_failed_cleared_at?: string | null;
  service_failed_cleared_by?: string | null;
  capabilities?: Action[] | null;
  os?: string | null;
  boot_id?: string | null;
  cpu_percent?: number | null;
  memory_percent?: number | null;
  disk_percent?: number | null;
  temperature_celsius?: number | null;
}

export interface Failure {
  uuid: string;
  name: string;
  site: string | null;
  service_failed_at: string;
  service_failed_unit: string;
}

export interface Acknowledged {
  uuid: string;
  name: string;
  site: string | null;
  unit: string | null;
  acknowledged_at: string;
  acknowledged_by: string;
}

export interface Counts {
  running: number;
  late: number;
  stale: number;
  crashed: number;
  starting: number;
  stopped: number;
  unknown: number;
  total: number;
  service_failed: number;
}

export interface Bridge { state: "listening" | "silent"; silent_since: string | null }
export interface Scheduler { last_tick_at: string | null; late: boolean }
export interface Breaker { open: boolean; why: string | null }

export interface Overview {
  server_time: string;
  epoch: string | number;
  cursor: string;
  counts: Counts;
  columns: (keyof Client)[];
  rows: unknown[][];
  gone: string[];
  heartbeats?: [uuid: string, at: string][];
  service_failed: Failure[];
  bridge: Bridge;
  scheduler: Scheduler;
  breaker: Breaker;
}

export interface LogRow {
  id: string | number;
  level: Level;
  raw_level: string | null;
  message: string;
  truncated?: boolean;
  logger: string | null;
  client_time: string | null;
  received_at: string;
  context: Record<string, unknown> | null;
  client_uuid?: string;
  client_name?: string;
}

export interface Media {
  id: number;
  filename: string;
  kind: string;
  bytes: number;
  sha256: string;
  uploaded_at: string;
}

export interface Conversion {
  id: number;
  media_id: number;
  target_format: string;
  file_hash: string;
  status: "pending" | "processing" | "ready" | "failed";
  attempts: number;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
  error_code: string | null;
  error_message: string | null;
  pages: number | null;
  file_url: string | null;
  report: Record<string, unknown> | null;
}

export interface Principal { kind: "user" | "token"; name: string; role: Role }
export interface Page<T> { items: T[]; next_cursor: string | null }

/** RFC 9457 problem document. */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: string;
  request_id?: string;
  lockout_until?: string;
  retry_after_seconds?: number;
  [extra: string]: unknown;
}
