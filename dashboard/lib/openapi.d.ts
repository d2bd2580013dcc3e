// Made by dashboard/generate_types.py from docs/openapi.json: do not edit.
// Times are RFC 3339 in UTC.

/** A failure that somebody acknowledged. */
export type AcknowledgedFailure = {
  acknowledged_at: string;
  acknowledged_by: string;
  name: string;
  site: string | null;
  unit: string | null;
  uuid: string;
};

/** The six digits that the app shows. */
export type AppCode = {
  code: string;
};

/** One mutation, or one that was refused. */
export type AuditEntry = {
  action: string;
  actor: string;
  at: string;
  details: Record<string, unknown>;
  id: number;
  request_id: string | null;
  result: string;
  target: string;
};

/** Which lines to list; each filter is exact. */
export type AuditQuery = {
  action?: string | null;
  actor?: string | null;
  cursor?: string | null;
  limit?: number;
  target?: string | null;
};

/** Many commands asked for at once. `state_reason` says in words why it is paused or aborted. */
export type Batch = {
  action: CommandAction;
  created_at: string;
  finished_at: string | null;
  id: string;
  max_unproven: string;
  reason: string;
  requested_by: string;
  state: BatchState;
  state_reason: string | null;
  wave: number;
  waves: number;
};

/** A batch with its counts. `result` is null until it is over: then succeeded (every one), partial or failed. */
export type BatchDetails = {
  action: CommandAction;
  by_wave: Array<WaveView>;
  clients: number;
  created_at: string;
  finished_at: string | null;
  id: string;
  max_unproven: string;
  members: PageBatchMember;
  outcomes: Record<string, number>;
  reason: string;
  requested_by: string;
  result: string | null;
  state: BatchState;
  state_reason: string | null;
  states: Record<string, number>;
  unproven: number;
  wave: number;
  waves: number;
};

/** A member with its client's name; null where there is no such client. */
export type BatchMember = {
  command: MemberCommand | null;
  decided_at: string | null;
  lockout_until: string | null;
  name: string | null;
  outcome: MemberOutcome;
  uuid: string;
  wave: number | null;
};

/** Where many commands that were asked for at once stand. */
export type BatchState = "aborted" | "finished" | "paused" | "running";

/** Whether recovery holds back because too many displays went silent at once. */
export type Breaker = {
  open: boolean;
  why: string | null;
};

/** Whether the fleet is heard at all. */
export type Bridge = {
  silent_since: string | null;
  state: string;
};

/** What the leading bridge last wrote about itself. */
export type BridgeShown = {
  canary_at: string | null;
  connected_since: string | null;
  counters: Record<string, unknown>;
  epoch: number;
  instance: string | null;
  last_commit_at: string | null;
  silent_since: string | null;
  state: string;
};

/** Where displays connect; `ca_pem` is null when a public authority signed the certificate. */
export type BrokerAddress = {
  ca_pem: string | null;
  host: string;
  port: number;
  tls: boolean;
};

/** Who the service takes the caller for. */
export type Caller = {
  kind: PrincipalKind;
  name: string;
  role: Role;
};

/** What to change; what is left out stays. `signing_secret`, `sites` and `hours` null: none. */
export type ChannelChanges = {
  critical_passes?: boolean;
  delay_seconds?: number;
  enabled?: boolean;
  events?: Array<NotificationEvent>;
  hours?: HoursBody | null;
  name?: string;
  signing_secret?: string | null;
  sites?: Array<string> | null;
  url?: string;
};

/** When it is told. `begin` and `end` are local times. */
export type ChannelHours = {
  begin: string;
  end: string;
  time_zone: string;
  weekdays: Array<Weekday>;
};

/** How a channel tells people. */
export type ChannelKind = "apprise" | "webhook";

/** What became of a test: `words` are the receiver's answer as we understand it. */
export type ChannelTest = {
  channel: NotificationChannel;
  delivered: boolean;
  duration_ms: number;
  words: string;
};

/** How one part was found. */
export type Check = {
  ok: boolean;
  why: string;
};

/** Which clients, as `GET /api/clients` takes it; at least one field. */
export type ChosenClients = {
  q?: string | null;
  service_failed?: boolean | null;
  site?: string | null;
  stale?: boolean | null;
  status?: ClientStatus | null;
  tag?: string | null;
  version?: string | null;
};

/** The client after the acknowledgement; `cleared` is false when there was nothing to clear. */
export type ClearedFailure = {
  app_instance: string | null;
  app_version: string | null;
  boot_id: string | null;
  capabilities: Array<string> | null;
  cleared: boolean;
  code_until: string | null;
  counter_went_back_at: string | null;
  created_at: string;
  health: Health | null;
  hostname: string | null;
  incident: OpenIncident | null;
  interval_seconds: number | null;
  ip: string | null;
  last_heartbeat_at: string | null;
  lockout_until: string | null;
  log_level: string | null;
  maintenance: QuietTime | null;
  mqtt_last_disconnect_at: string | null;
  mqtt_reconnect_count: number | null;
  name: string;
  notes: string;
  open_command: OpenCommand | null;
  os: string | null;
  presence: Presence;
  presence_at: string | null;
  process_status: ProcessStatus;
  recovery: Recovery | null;
  refused: Array<RefusedMessages>;
  registered_by: string;
  screen_health: ScreenHealthStatus;
  service_failed_at: string | null;
  service_failed_cleared_at: string | null;
  service_failed_cleared_by: string | null;
  service_failed_unit: string | null;
  shared_login_seen_at: string | null;
  site: string | null;
  status: ClientStatus;
  status_since: string;
  tags: Array<string>;
  unsteady_losses: number | null;
  uuid: string;
};

/** A client as every list shows it. `recovery` is null while it is healthy. `mqtt_last_disconnect_at` is the display's own word, by its own clock. `shared_login_seen_at`: two devices used its login then. */
export type Client = {
  app_version: string | null;
  hostname: string | null;
  ip: string | null;
  last_heartbeat_at: string | null;
  lockout_until: string | null;
  mqtt_last_disconnect_at: string | null;
  mqtt_reconnect_count: number | null;
  name: string;
  open_command: OpenCommand | null;
  presence: Presence;
  process_status: ProcessStatus;
  recovery: Recovery | null;
  screen_health: ScreenHealthStatus;
  service_failed_at: string | null;
  service_failed_unit: string | null;
  shared_login_seen_at: string | null;
  site: string | null;
  status: ClientStatus;
  status_since: string;
  tags: Array<string>;
  uuid: string;
};

/** A client as its own page shows it. `unsteady_losses`: how often it lost the broker within the last hour, where that is three times or more and was no incident; else null. `code_until`: when its enrolment code that nobody has used ends, or ended; null without one. `counter_went_back_at`: it numbered its messages from 1 again (an image put back, a write filter); log lines of then may stand twice. */
export type ClientDetails = {
  app_instance: string | null;
  app_version: string | null;
  boot_id: string | null;
  capabilities: Array<string> | null;
  code_until: string | null;
  counter_went_back_at: string | null;
  created_at: string;
  health: Health | null;
  hostname: string | null;
  incident: OpenIncident | null;
  interval_seconds: number | null;
  ip: string | null;
  last_heartbeat_at: string | null;
  lockout_until: string | null;
  log_level: string | null;
  maintenance: QuietTime | null;
  mqtt_last_disconnect_at: string | null;
  mqtt_reconnect_count: number | null;
  name: string;
  notes: string;
  open_command: OpenCommand | null;
  os: string | null;
  presence: Presence;
  presence_at: string | null;
  process_status: ProcessStatus;
  recovery: Recovery | null;
  refused: Array<RefusedMessages>;
  registered_by: string;
  screen_health: ScreenHealthStatus;
  service_failed_at: string | null;
  service_failed_cleared_at: string | null;
  service_failed_cleared_by: string | null;
  service_failed_unit: string | null;
  shared_login_seen_at: string | null;
  site: string | null;
  status: ClientStatus;
  status_since: string;
  tags: Array<string>;
  unsteady_losses: number | null;
  uuid: string;
};

/** What people say of a client; a field left out stays as it is. */
export type ClientFacts = {
  name?: string;
  notes?: string;
  site?: string | null;
  tags?: Array<string>;
};

/** Which clients to list. */
export type ClientQuery = {
  cursor?: string | null;
  limit?: number;
  q?: string | null;
  service_failed?: boolean | null;
  site?: string | null;
  stale?: boolean | null;
  status?: ClientStatus | null;
  tag?: string | null;
  version?: string | null;
};

/** What recovery does about one client now (`recovery` is null while it is healthy), and all that bears on it. */
export type ClientRecovery = {
  breaker: Breaker;
  breaker_events: Array<RecoveryEvent>;
  bridge: Bridge;
  enabled: boolean;
  events: Array<RecoveryEvent>;
  exclusion: Exclusion | null;
  hold: Hold | null;
  recovery: Recovery | null;
  tried: Tried;
  uuid: string;
};

/** The shown state of a client: stored with `status_since`, one change row per change. */
export type ClientStatus = "crashed" | "late" | "running" | "stale" | "starting" | "stopped" | "unknown";

/** How much one client logged, by level. */
export type ClientSummary = {
  counts: Record<string, number>;
  last_error_at: string | null;
  name: string;
  uuid: string;
};

/** A one-time code, to be typed at the display. */
export type Code = {
  code: string;
  expires_at: string;
};

/** A command with every step of its life. */
export type Command = {
  acked_boot_id: string | null;
  action: CommandAction;
  client_uuid: string;
  confirmed_by: ConfirmedBy | null;
  created_at: string;
  expires_at: string;
  finished_at: string | null;
  id: string;
  if_boot_id: string | null;
  late_at: string | null;
  late_state: string | null;
  outcome_reason: string | null;
  reason: string;
  received_at: string | null;
  requested_by: string;
  result_deadline: string | null;
  running_at: string | null;
  sent_at: string | null;
  source: CommandSource;
  state: CommandState;
  trace_id: string | null;
};

/** What a display can be told to do. */
export type CommandAction = "reboot_host" | "restart_app" | "shutdown_host";

/** Who asked for a command. */
export type CommandSource = "bulk" | "operator" | "recovery";

/** Where a command stands. Moves only go up in rank; a terminal state never changes. */
export type CommandState = "cancelled" | "expired" | "failed" | "queued" | "received" | "rejected" | "running" | "sent" | "succeeded" | "timed_out";

/** How a command's success is known. */
export type ConfirmedBy = "ack" | "both" | "evidence";

/** A conversion of one medium. `file_url` is null until it is ready. */
export type Conversion = {
  attempts: number;
  created_at: string;
  error_code: string | null;
  error_message: string | null;
  file_hash: string;
  file_url: string | null;
  finished_at: string | null;
  id: number;
  media_id: number;
  pages: number | null;
  report: Record<string, unknown> | null;
  started_at: string | null;
  status: ConversionStatus;
  target_format: TargetFormat;
  trace_id: string | null;
};

/** A conversion in a list, with the name of the file that was uploaded. */
export type ConversionItem = {
  attempts: number;
  created_at: string;
  error_code: string | null;
  error_message: string | null;
  file_hash: string;
  file_url: string | null;
  filename: string;
  finished_at: string | null;
  id: number;
  media_id: number;
  pages: number | null;
  report: Record<string, unknown> | null;
  started_at: string | null;
  status: ConversionStatus;
  target_format: TargetFormat;
  trace_id: string | null;
};

/** Where a conversion stands. */
export type ConversionStatus = "failed" | "pending" | "processing" | "ready";

/** Which conversions. */
export type ConversionsQuery = {
  cursor?: string | null;
  limit?: number;
  status?: ConversionStatus | null;
};

/** A client that is crashed or silent: `reason` in words, `since` when it began. */
export type CrashedClient = {
  app_version: string | null;
  hostname: string | null;
  ip: string | null;
  last_heartbeat_at: string | null;
  lockout_until: string | null;
  mqtt_last_disconnect_at: string | null;
  mqtt_reconnect_count: number | null;
  name: string;
  open_command: OpenCommand | null;
  presence: Presence;
  process_status: ProcessStatus;
  reason: string;
  recovery: Recovery | null;
  screen_health: ScreenHealthStatus;
  service_failed_at: string | null;
  service_failed_unit: string | null;
  shared_login_seen_at: string | null;
  since: string | null;
  site: string | null;
  status: ClientStatus;
  status_since: string;
  tags: Array<string>;
  uuid: string;
};

/** Clients that are crashed or silent beyond the threshold, the longest silent first. */
export type CrashedClients = {
  bridge: Bridge;
  items: Array<CrashedClient>;
  next_cursor: string | null;
};

/** Who wants to sign in. */
export type Credentials = {
  code?: string;
  password: string;
  username: string;
};

/** A message that was put aside, `count` times alike. `payload` is its first 4 KiB as text. */
export type DeadLetter = {
  count: number;
  detail: string | null;
  first_at: string;
  id: number;
  last_at: string;
  payload: string;
  payload_bytes: number;
  reason: DeadLetterReason;
  sha256: string;
  topic: string;
};

/** Why a message was put aside instead of stored. */
export type DeadLetterReason = "bad_field" | "bad_number" | "bad_uuid" | "not_an_object" | "not_json" | "not_utf8" | "refused_by_database" | "too_deep" | "too_large" | "unknown_client" | "unknown_topic" | "unsupported_version";

/** One message to one channel. `due_at`: of the next try, while it is pending; `error`: of the last one. */
export type Delivery = {
  attempts: number;
  channel_id: number;
  channel_name: string;
  created_at: string;
  due_at: string | null;
  error: string | null;
  event: NotificationEvent;
  finished_at: string | null;
  id: number;
  phase: NotificationPhase;
  state: DeliveryState;
  subject: string;
  text: string;
  title: string;
};

/** Which messages to list. */
export type DeliveryQuery = {
  channel?: number | null;
  cursor?: string | null;
  limit?: number;
  state?: DeliveryState | null;
};

/** Where one message to one channel stands. */
export type DeliveryState = "delivered" | "dropped" | "failed" | "folded" | "pending";

/** Why it must not be waited for. */
export type EndOfCommand = {
  reason: string;
};

/** Everything a display needs to connect. The password is told this once. */
export type Enrolled = {
  mqtt: BrokerAddress;
  password: string;
  topic_root: string;
  username: string;
  uuid: string;
};

/** One error of any client. */
export type ErrorLog = {
  client_name: string;
  client_time: string | null;
  client_uuid: string;
  context: Record<string, unknown> | null;
  id: number;
  level: LogLevel;
  logger: string | null;
  message: string;
  raw_level: string | null;
  received_at: string;
  truncated: boolean;
};

/** Something that happened to a client. `title` is for people; what `details` holds depends on `kind`. */
export type Event = {
  at: string;
  details: Record<string, unknown>;
  kind: EventKind;
  title: string;
};

/** What kind of thing happened to a client: one entry of its timeline. */
export type EventKind = "audit" | "command" | "log" | "recovery" | "registered" | "service_cleared" | "service_failed" | "state";

/** Never recover the client. */
export type ExcludeBody = {
  reason: string;
};

/** Never recover a client of this site. */
export type ExcludeSiteBody = {
  reason: string;
  site: string;
};

/** Never recovered until it is included again: one client, or with `site` every client that stands there. */
export type Exclusion = {
  client_uuid: string | null;
  excluded_at: string;
  excluded_by: string;
  reason: string;
  site: string | null;
};

/** A client with a service failure. */
export type FailedService = {
  name: string;
  service_failed_at: string;
  service_failed_unit: string;
  site: string | null;
  uuid: string;
};

/** One field or parameter that is not as expected. */
export type FieldProblem = {
  expected: string;
  field: string;
};

/** One's own password, and the app's code or a recovery code. */
export type FullProof = {
  code: string;
  current_password: string;
};

/** A password to hand to its person. It is shown this once, signs in until then, and has to be changed at once. */
export type HandedOver = {
  one_time_password: string;
  one_time_until: string;
  user: User;
};

/** The newest health report's figures; percentages are 0 to 100. */
export type Health = {
  cpu_percent: number | null;
  disk_percent: number | null;
  memory_percent: number | null;
  received_at: string;
  temperature_celsius: number | null;
};

/** The least and the most that was sampled, and the last value with its time. */
export type HealthExtremes = {
  last: number;
  last_at: string;
  least: number;
  most: number;
};

/** At most 300 points without a hole between them, the oldest first. A display is sampled every five minutes. `since` and `until` are what is told, which may be less than what was asked for: nothing of the future, and nothing older than HEALTH_HISTORY_DAYS. */
export type HealthHistory = {
  points: Array<HealthPoint>;
  since: string;
  step_seconds: number;
  summary: HealthSummary;
  until: string;
  uuid: string;
};

/** Which time; without `since` the 24 hours before `until`, without `until` up to now. */
export type HealthHistoryQuery = {
  since?: string | null;
  until?: string | null;
};

/** The means of `step_seconds` from `at` on; null where nothing was reported, which is a gap. */
export type HealthPoint = {
  at: string;
  cpu_percent: number | null;
  disk_percent: number | null;
  memory_percent: number | null;
  temperature_celsius: number | null;
};

/** Each measure in a few numbers; null where it was never reported in this time. */
export type HealthSummary = {
  cpu_percent: HealthExtremes | null;
  disk_percent: HealthExtremes | null;
  memory_percent: HealthExtremes | null;
  temperature_celsius: HealthExtremes | null;
};

/** An operator wants the client left alone; `until` null: until somebody resumes. */
export type Hold = {
  at: string;
  by: string;
  reason: string;
  until: string | null;
};

/** Leave the client alone. */
export type HoldBody = {
  reason: string;
  until?: string | null;
};

/** When it is told: from then to then on these days, by the clock of a time zone. */
export type HoursBody = {
  begin: string;
  end: string;
  time_zone: string;
  weekdays: Array<Weekday>;
};

/** Displays that failed together, and what that is likely to come from (`cause`). `members` were ever part of it, `unwell` are so still; `group_size` is how many displays of the site or subnet were heard in the day before, null for other kinds. An incident that turned out to be part of another one is closed with `merged_into`. One of kind `listening` is our own: we do not hear the fleet, and it has no members. */
export type Incident = {
  began_at: string;
  cause: string;
  closed_at: string | null;
  group_size: number | null;
  id: number;
  kind: IncidentKind;
  members: number;
  merged_into: number | null;
  opened_at: string;
  site: string | null;
  subnet: string | null;
  unwell: number;
};

/** An incident with the first page of its displays and of its timeline. `in_maintenance` of the unwell ones are in a maintenance window now: nothing is sent to those by itself. */
export type IncidentDetails = {
  began_at: string;
  cause: string;
  closed_at: string | null;
  displays: PageMember;
  group_size: number | null;
  id: number;
  in_maintenance: number;
  kind: IncidentKind;
  members: number;
  merged_into: number | null;
  opened_at: string;
  site: string | null;
  subnet: string | null;
  timeline: PageIncidentEvent;
  unwell: number;
};

/** Something that happened. `title` is for people; `count` displays are meant, `uuids` are up to ten of them. */
export type IncidentEvent = {
  at: string;
  count: number | null;
  details: Record<string, unknown>;
  kind: IncidentEventKind;
  title: string;
  uuids: Array<string>;
};

/** What kind of thing happened in an incident: one entry of its timeline. */
export type IncidentEventKind = "closed" | "command" | "joined" | "left" | "merged" | "opened" | "recovery" | "reopened";

/** What the displays of an incident have in common. */
export type IncidentKind = "cluster" | "listening" | "site" | "subnet";

/** Which incidents to list. */
export type IncidentQuery = {
  cursor?: string | null;
  limit?: number;
  open?: boolean | null;
  since?: string | null;
  site?: string | null;
};

/** Recover the clients of this site again. */
export type IncludeSiteBody = {
  site: string;
};

/** A new token. `token` is shown this once. */
export type IssuedToken = {
  expires_at: string | null;
  id: string;
  name: string;
  role: Role;
  token: string;
};

/** Whose dead letters to list. */
export type LetterQuery = {
  client?: string | null;
  cursor?: string | null;
  limit?: number;
};

/** The process answers. */
export type Live = {
  status: string;
};

/** One log row. `client_time` is the display's own clock, never used for order. */
export type Log = {
  client_time: string | null;
  context: Record<string, unknown> | null;
  id: number;
  level: LogLevel;
  logger: string | null;
  message: string;
  raw_level: string | null;
  received_at: string;
  truncated: boolean;
};

/** Severity of a client log; the last segment of the log topic. */
export type LogLevel = "critical" | "debug" | "error" | "info" | "warning";

/** Which log rows of a client to list. */
export type LogQuery = {
  cursor?: string | null;
  level?: Array<LogLevel>;
  limit?: number;
  q?: string | null;
  since?: string | null;
  until?: string | null;
};

/** The parameters of a list that is mostly short, so that one page mostly has all of it. */
export type LongPageQuery = {
  cursor?: string | null;
  limit?: number;
};

/** Which windows to list. */
export type MaintenanceQuery = {
  client?: string | null;
  current?: boolean | null;
  cursor?: string | null;
  limit?: number;
};

/** Whom a maintenance window keeps quiet. */
export type MaintenanceScope = "clients" | "fleet" | "site";

/** Where a maintenance window stands. */
export type MaintenanceState = "active" | "ended" | "over" | "planned";

/** A window. `occurrence` is the one that is on, or else the next one; null when there is none any more. */
export type MaintenanceWindow = {
  clients: Array<string>;
  created_at: string;
  created_by: string;
  ended_at: string | null;
  ended_by: string | null;
  ends_at: string;
  id: number;
  name: string;
  occurrence: Occurrence | null;
  reason: string;
  recurrence: Recurrence | null;
  scope: MaintenanceScope;
  site: string | null;
  starts_at: string;
  state: MaintenanceState;
};

/** An uploaded file. `sha256` is in hex. */
export type Media = {
  bytes: number;
  filename: string;
  id: number;
  kind: MediaKind;
  sha256: string;
  uploaded_at: string;
  uploaded_by: string;
};

/** What an uploaded file is, by its content. */
export type MediaKind = "gif" | "jpeg" | "mp4" | "odp" | "pdf" | "png" | "ppt" | "pptx" | "webm" | "webp";

/** An uploaded file in a list, with its newest conversion. */
export type MediaListed = {
  bytes: number;
  conversion: Conversion | null;
  filename: string;
  id: number;
  kind: MediaKind;
  sha256: string;
  uploaded_at: string;
  uploaded_by: string;
};

/** Which uploaded files. */
export type MediaQuery = {
  cursor?: string | null;
  kind?: MediaKind | null;
  limit?: number;
};

/** A display that was part of the incident, as it was the last time; `left_at` is null while it is unwell. */
export type Member = {
  failed_at: string;
  joined_at: string;
  left_at: string | null;
  name: string;
  site: string | null;
  status: ClientStatus;
  symptom: Symptom;
  unit: string | null;
  uuid: string;
};

/** How far a member's command has come; `GET /api/commands/<id>` tells all of it. */
export type MemberCommand = {
  confirmed_by: ConfirmedBy | null;
  created_at: string;
  expires_at: string;
  finished_at: string | null;
  id: string;
  late_state: string | null;
  outcome_reason: string | null;
  state: CommandState;
};

/** What became of one client of a batch. */
export type MemberOutcome = "aborted" | "accepted" | "command_in_flight" | "locked_out" | "not_capable" | "unknown_client" | "waiting";

/** Which members to show. */
export type MemberQuery = {
  cursor?: string | null;
  limit?: number;
  outcome?: MemberOutcome | null;
};

/** What to tell a display. */
export type NewCommand = {
  action: CommandAction;
  override_lockout?: boolean;
  reason?: string;
  ttl_seconds?: number | null;
};

/** What to tell many displays: `clients` or `filter`. With `waves` (numbers, shares such as `10%`, `rest`) each is sent when the one before is over; whom they leave over comes last. More unproven commands than `max_unproven` pause the batch. */
export type NewCommands = {
  action: CommandAction;
  clients?: Array<string> | null;
  dry_run?: boolean;
  filter?: ChosenClients | null;
  max_unproven?: number | string;
  reason?: string;
  ttl_seconds?: number | null;
  waves?: Array<number | string> | null;
};

/** From which level on a display logs, and for how long. */
export type NewLogLevel = {
  level: LogLevel;
  minutes: number;
};

/** A window to plan. `starts_at` is now where it is left out; with `recurrence` the times are the first ones. */
export type NewMaintenanceWindow = {
  clients?: Array<string>;
  ends_at: string;
  name: string;
  reason?: string;
  recurrence?: RecurrenceBody | null;
  scope: MaintenanceScope;
  site?: string | null;
  starts_at?: string | null;
};

/** Another name for a file; an ending that does not say its kind is given one that does. */
export type NewName = {
  filename: string;
};

/** A channel to add. `url`: where a webhook is posted to, or an address of Apprise (`mailto://…`, `slack://…`). */
export type NewNotificationChannel = {
  critical_passes?: boolean;
  delay_seconds?: number;
  enabled?: boolean;
  events?: Array<NotificationEvent>;
  hours?: HoursBody | null;
  kind: ChannelKind;
  name: string;
  signing_secret?: string | null;
  sites?: Array<string> | null;
  url: string;
};

/** A new password, and the present one as proof. */
export type NewPassword = {
  current_password: string;
  new_password: string;
};

/** Tell nobody until then of the fleet, of a site or of a client. */
export type NewSnooze = {
  client?: string | null;
  reason?: string;
  scope: SnoozeScope;
  site?: string | null;
  until: string;
};

/** What a token is for and what it may do. */
export type NewToken = {
  expires_at?: string | null;
  name: string;
  role: Role;
};

/** Somebody to let in, and what they may do. */
export type NewUser = {
  role: Role;
  username: string;
};

/** No parameters. */
export type NoQuery = {
};

/** A channel. `address` is what may be shown of its url; `last_error` is null since the last delivery. */
export type NotificationChannel = {
  address: string;
  changed_at: string;
  created_at: string;
  created_by: string;
  critical_passes: boolean;
  delay_seconds: number;
  enabled: boolean;
  events: Array<NotificationEvent>;
  hours: ChannelHours | null;
  id: number;
  kind: ChannelKind;
  last_delivered_at: string | null;
  last_error: string | null;
  last_failed_at: string | null;
  name: string;
  signed: boolean;
  sites: Array<string> | null;
};

/** What people can be told of. */
export type NotificationEvent = "breaker_open" | "bridge_silent" | "certificate_ending" | "certificate_old" | "connection_unsteady" | "conversion_failed" | "display_suspended" | "display_unwell" | "incident_escalated" | "incident_opened" | "recovered" | "screen_bad" | "service_failed";

/** Which word about one trouble a message is; each is said once to a channel. */
export type NotificationPhase = "escalated" | "opened" | "recovered";

/** One time that a window is on. */
export type Occurrence = {
  ends_at: string;
  starts_at: string;
};

/** The command that a client has open. */
export type OpenCommand = {
  action: CommandAction;
  created_at: string;
  expires_at: string;
  id: string;
  source: CommandSource;
  state: CommandState;
};

/** The open incident that a client is part of; `GET /api/incidents/<id>` tells the rest. */
export type OpenIncident = {
  cause: string;
  id: number;
};

/** What the display was told. Its health reports the level in force; `until` is by our clock. */
export type OrderedLogLevel = {
  level: LogLevel;
  until: string;
  uuid: string;
};

/** What became of one client. `accepted` is not success: its command's state is. */
export type Outcome = {
  command: MemberCommand | null;
  lockout_until: string | null;
  outcome: MemberOutcome;
  uuid: string;
  wave: number | null;
};

/** The fleet. `full` false: only clients whose state changed since the cursor; `gone` are to be forgotten. */
export type OverviewAnswer = {
  breaker: Breaker;
  bridge: Bridge;
  clients?: Array<Client>;
  columns?: Array<string>;
  counts: Record<string, number>;
  cursor: string;
  epoch: string;
  full: boolean;
  gone: Array<string>;
  heartbeats?: Array<[string, string]>;
  packed?: Packed;
  packed_heartbeats?: PackedHeartbeats;
  rows?: Array<Array<unknown>>;
  scheduler: Scheduler;
  server_time: string;
  service_failed: Array<FailedService>;
};

/** How to tell the fleet. */
export type OverviewQuery = {
  format?: "columns" | "objects" | "packed";
  hb?: "0" | "1";
  since?: string | null;
};

/** One of the caller's sessions that can come in. `last_seen_at` is right to a minute. */
export type OwnSession = {
  address: string | null;
  browser: string | null;
  created_at: string;
  expires_at: string;
  id: number;
  is_this_one: boolean;
  last_seen_at: string;
};

/** The caller's sessions, the one that was used last first. */
export type OwnSessions = {
  items: Array<OwnSession>;
};

/** Clients column by column: the nth value of each is of the nth client. `uuid` holds 16 bytes of each in base64. `status_since`, `last_heartbeat_at`, `service_failed_at`, `mqtt_last_disconnect_at`, `shared_login_seen_at` and `lockout_until` are told as how many seconds before the second of `server_time` they were; a time with a fraction as a text that adds its six digits ("12.034500"). */
export type Packed = {
  app_version: Array<string | null> | Words;
  hostname: Array<string | null>;
  ip: Array<string | null>;
  last_heartbeat_at: Array<number | string | null>;
  lockout_until: Array<number | string | null>;
  mqtt_last_disconnect_at: Array<number | string | null>;
  mqtt_reconnect_count: Array<number | null>;
  name: Array<string>;
  open_command: Array<OpenCommand | null>;
  presence: Array<Presence>;
  process_status: Array<ProcessStatus>;
  recovery: Array<Recovery | null>;
  screen_health: Array<ScreenHealthStatus>;
  service_failed_at: Array<number | string | null>;
  service_failed_unit: Array<string | null>;
  shared_login_seen_at: Array<number | string | null>;
  site: Array<string | null> | Words;
  status: Array<ClientStatus>;
  status_since: Array<number | string | null>;
  tags: Array<Array<string>>;
  uuid: string;
};

/** The last heartbeat of each client, in the form of a packed answer. */
export type PackedHeartbeats = {
  last_heartbeat_at: Array<number | string | null>;
  uuid: string;
};

/** The parameters of every list. */
export type PageQuery = {
  cursor?: string | null;
  limit?: number;
};

/** One page of a list; `next_cursor` is null on the last one. */
export type PageAcknowledgedFailure = {
  items: Array<AcknowledgedFailure>;
  next_cursor: string | null;
};

/** One page of a list; `next_cursor` is null on the last one. */
export type PageAuditEntry = {
  items: Array<AuditEntry>;
  next_cursor: string | null;
};

/** One page of a list; `next_cursor` is null on the last one. */
export type PageBatchMember = {
  items: Array<BatchMember>;
  next_cursor: string | null;
};

/** One page of a list; `next_cursor` is null on the last one. */
export type PageBatch = {
  items: Array<Batch>;
  next_cursor: string | null;
};

/** One page of a list; `next_cursor` is null on the last one. */
export type PageClient = {
  items: Array<Client>;
  next_cursor: string | null;
};

/** One page of a list; `next_cursor` is null on the last one. */
export type PageCommand = {
  items: Array<Command>;
  next_cursor: string | null;
};

/** One page of a list; `next_cursor` is null on the last one. */
export type PageConversionItem = {
  items: Array<ConversionItem>;
  next_cursor: string | null;
};

/** One page of a list; `next_cursor` is null on the last one. */
export type PageDeadLetter = {
  items: Array<DeadLetter>;
  next_cursor: string | null;
};

/** One page of a list; `next_cursor` is null on the last one. */
export type PageDelivery = {
  items: Array<Delivery>;
  next_cursor: string | null;
};

/** One page of a list; `next_cursor` is null on the last one. */
export type PageErrorLog = {
  items: Array<ErrorLog>;
  next_cursor: string | null;
};

/** One page of a list; `next_cursor` is null on the last one. */
export type PageEvent = {
  items: Array<Event>;
  next_cursor: string | null;
};

/** One page of a list; `next_cursor` is null on the last one. */
export type PageExclusion = {
  items: Array<Exclusion>;
  next_cursor: string | null;
};

/** One page of a list; `next_cursor` is null on the last one. */
export type PageIncidentEvent = {
  items: Array<IncidentEvent>;
  next_cursor: string | null;
};

/** One page of a list; `next_cursor` is null on the last one. */
export type PageIncident = {
  items: Array<Incident>;
  next_cursor: string | null;
};

/** One page of a list; `next_cursor` is null on the last one. */
export type PageLog = {
  items: Array<Log>;
  next_cursor: string | null;
};

/** One page of a list; `next_cursor` is null on the last one. */
export type PageMaintenanceWindow = {
  items: Array<MaintenanceWindow>;
  next_cursor: string | null;
};

/** One page of a list; `next_cursor` is null on the last one. */
export type PageMediaListed = {
  items: Array<MediaListed>;
  next_cursor: string | null;
};

/** One page of a list; `next_cursor` is null on the last one. */
export type PageMember = {
  items: Array<Member>;
  next_cursor: string | null;
};

/** One page of a list; `next_cursor` is null on the last one. */
export type PageNotificationChannel = {
  items: Array<NotificationChannel>;
  next_cursor: string | null;
};

/** One page of a list; `next_cursor` is null on the last one. */
export type PageRecoveryEvent = {
  items: Array<RecoveryEvent>;
  next_cursor: string | null;
};

/** One page of a list; `next_cursor` is null on the last one. */
export type PageSnooze = {
  items: Array<Snooze>;
  next_cursor: string | null;
};

/** One page of a list; `next_cursor` is null on the last one. */
export type PageToken = {
  items: Array<Token>;
  next_cursor: string | null;
};

/** One page of a list; `next_cursor` is null on the last one. */
export type PageUnsteadyClient = {
  items: Array<UnsteadyClient>;
  next_cursor: string | null;
};

/** One page of a list; `next_cursor` is null on the last one. */
export type PageUser = {
  items: Array<User>;
  next_cursor: string | null;
};

/** What the display's retained presence message says: a hint, the heartbeat is the truth. */
export type Presence = "offline" | "online" | "unknown";

/** What kind of caller the API has in front of it. */
export type PrincipalKind = "token" | "user";

/** An RFC 9457 problem document; an error's own fields stand beside these. */
export type Problem = {
  code: string;
  detail: string;
  errors?: Array<FieldProblem>;
  request_id: string;
  status: number;
  title: string;
  type: string;
};

/** What a display's heartbeat says of its player process. */
export type ProcessStatus = "crashed" | "running" | "starting" | "stopped" | "unknown";

/** One's own password. */
export type Proof = {
  current_password: string;
};

/** The maintenance window in which nothing is sent to a client by itself, and why; commands of people are. */
export type QuietTime = {
  by: string;
  name: string;
  reason: string;
  until: string;
  window_id: number;
};

/** `status` is `ready` when every check is ok, else `not_ready`. `checks` are for callers with a token or session, and for those on this machine; others get none. */
export type Ready = {
  checks: Record<string, Check>;
  status: string;
};

/** Which errors to list. */
export type RecentErrorsQuery = {
  cursor?: string | null;
  hours?: number;
  limit?: number;
};

/** What auto-recovery does about an unhealthy client, in words. `mute`: it talks, but its heartbeats do not come. */
export type Recovery = {
  mute: boolean;
  state: RecoveryState;
  step: number;
  until: string | null;
  why: string;
};

/** Each replaces a code of the app once. Nothing shows them again. */
export type RecoveryCodes = {
  recovery_codes: Array<string>;
};

/** What was decided about one unhealthy client, or about the breaker of the fleet or of a site. */
export type RecoveryDecision = "breaker_closed" | "breaker_open" | "breaker_released" | "none" | "reboot_host" | "restart_app";

/** One decision; on a breaker where `client_uuid` is null. `evidence` is what was known when it was made. */
export type RecoveryEvent = {
  at: string;
  client_uuid: string | null;
  command_id: string | null;
  decision: RecoveryDecision;
  evidence: Record<string, unknown>;
  id: number;
  why: string;
};

/** Why a client is, or is not, being recovered: shown to people. */
export type RecoveryState = "blocked_breaker" | "blocked_bridge" | "due" | "held" | "in_flight" | "locked" | "not_recovered" | "off" | "suspended" | "unreachable" | "verifying";

/** Each week on `weekdays`; `until` is the last local date on which it begins, null for no end. */
export type Recurrence = {
  time_zone: string;
  until: string | null;
  weekdays: Array<Weekday>;
};

/** Each week on `weekdays`, at the local times of the first occurrence in `time_zone`. */
export type RecurrenceBody = {
  time_zone: string;
  until?: string | null;
  weekdays: Array<Weekday>;
};

/** The code as typed; case, dashes and blanks do not matter. */
export type Redemption = {
  code: string;
};

/** What a client sent within a day that was put aside: the kind of its topic, the reason, and all that in words. */
export type RefusedMessages = {
  count: number;
  kind: string;
  last_at: string;
  reason: DeadLetterReason;
  words: string;
};

/** Which breaker: a site's, or without one every breaker that is open. */
export type ReleaseBody = {
  site?: string | null;
};

/** The sites whose breaker was released, null being the whole fleet's; empty where none was open. */
export type Released = {
  breaker: Breaker;
  released: Array<string | null>;
};

/** Whose password or second factor ends: the username of the account in the address. */
export type Reset = {
  username: string;
};

/** What a person or a script may do; each role may do what the ones before it may. */
export type Role = "admin" | "operator" | "viewer";

/** A display's own proof, and the password that it made: 32 random bytes in base64url. */
export type Rotation = {
  new_password: string;
  password: string;
  uuid: string;
};

/** The client as `GET /api/clients/<uuid>/recovery` tells it. `changed` false: that was said already. */
export type SaidOfClient = {
  breaker: Breaker;
  breaker_events: Array<RecoveryEvent>;
  bridge: Bridge;
  changed: boolean;
  enabled: boolean;
  events: Array<RecoveryEvent>;
  exclusion: Exclusion | null;
  hold: Hold | null;
  recovery: Recovery | null;
  tried: Tried;
  uuid: string;
};

/** `changed` false: that was said already. */
export type SaidOfSite = {
  changed: boolean;
  exclusion: Exclusion | null;
  site: string;
};

/** Whether ticks come, how long the last one took and what each of its steps did. */
export type Scheduler = {
  did: Record<string, unknown>;
  duration_ms: number | null;
  last_tick_at: string | null;
  late: boolean;
};

/** What the last tick did; nulls before the first. */
export type SchedulerShown = {
  did: Record<string, unknown>;
  duration_ms: number | null;
  last_tick_at: string | null;
  late: boolean;
};

/** What a display's health report says of the panel it drives. */
export type ScreenHealthStatus = "black" | "disconnected" | "frozen" | "off" | "ok" | "unknown";

/** Whether a code is asked for when one signs in. */
export type SecondFactor = {
  is_required: boolean;
  recovery_codes_left: number;
  since: string | null;
};

/** What the app has to know. It is shown this once, and holds after a code of it was sent to `confirm`. */
export type Secret = {
  otpauth_url: string;
  secret: string;
};

/** One outcome for each client asked for, in that order. `batch_id` is null in a dry run. */
export type Sent = {
  batch_id: string | null;
  counts: Record<string, number>;
  outcomes: Array<Outcome>;
  state: BatchState | null;
};

/** The caller, and until when their proof of identity holds (null: not by itself ended). */
export type Session = {
  expires_at: string | null;
  must_change_password: boolean;
  must_set_up_second_factor: boolean;
  principal: Caller;
};

/** One setting. */
export type SettingShown = {
  default: unknown;
  meaning: string;
  unit: string;
  value: unknown;
};

/** Settings by name, scheduler and bridge. */
export type Settings = {
  bridge: BridgeShown;
  scheduler: SchedulerShown;
  settings: Record<string, SettingShown>;
};

/** How people sign in: with a name and a password, or known already to a proxy before this service. */
export type SignInMethod = {
  method: "password" | "proxy";
};

/** Of whom nobody is told until then; `current` false: it is over or was ended. */
export type Snooze = {
  client: string | null;
  client_name: string | null;
  created_at: string;
  created_by: string;
  current: boolean;
  ended_at: string | null;
  ended_by: string | null;
  id: number;
  reason: string;
  scope: SnoozeScope;
  site: string | null;
  until: string;
};

/** Which snoozes to list. */
export type SnoozeQuery = {
  client?: string | null;
  current?: boolean | null;
  cursor?: string | null;
  limit?: number;
};

/** Of whom nobody is told for a while. */
export type SnoozeScope = "client" | "fleet" | "site";

/** How much the fleet logged since `since`, by level and by client. */
export type Summary = {
  clients: Array<ClientSummary>;
  since: string;
  totals: Record<string, number>;
};

/** How far the summary looks back, and of whom it speaks. */
export type SummaryQuery = {
  client?: string | null;
  hours?: number;
};

/** How a display failed that belongs to an incident. */
export type Symptom = "crashed" | "disconnected" | "service_failed" | "silent";

/** What a medium can be converted to. */
export type TargetFormat = "pdf";

/** Proof that the blueprint answers; `logs` is Postgres' own estimate of the rows stored. */
export type TestAnswer = {
  blueprint: string;
  logs: number;
  status: string;
};

/** A token as listed: without its secret, which nobody has but its holder. */
export type Token = {
  created_at: string;
  created_by: string;
  expires_at: string | null;
  id: string;
  last_used_at: string | null;
  name: string;
  revoked_at: string | null;
  role: Role;
};

/** How far up the ladder of four attempts recovery has gone, and since when the client is well again. What the display refused, or did not begin, is no attempt and counted apart. */
export type Tried = {
  healthy_since: string | null;
  reboots: number;
  refused_reboots: number;
  refused_restarts: number;
  restarts: number;
  since: string | null;
  step: number;
};

/** A client that keeps losing the broker: how often within the last hour, and when it was called so. */
export type UnsteadyClient = {
  losses: number;
  name: string;
  since: string;
  site: string | null;
  uuid: string;
};

/** An upload in parts. `offset` bytes of `length` are safe; `media_id` is set when all are. */
export type Upload = {
  created_at: string;
  expires_at: string;
  filename: string;
  id: string;
  length: number;
  media_id: number | null;
  offset: number;
};

/** What an upload made: the medium and, for a presentation, its conversion. */
export type Uploaded = {
  conversion: Conversion | null;
  media: Media;
};

/** Shares over 24 hours, 7 days and 30 days, and the states of the days asked for, the oldest first. A display that changed its state more than 1,000 times in those days is drawn in 480 equal slots, each with the worst state that it held. */
export type Uptime = {
  segments: Array<UptimeSegment>;
  uuid: string;
  windows: Array<UptimeWindow>;
};

/** How much of the past to draw. */
export type UptimeQuery = {
  days?: number;
};

/** A time without a change of the shown state. */
export type UptimeSegment = {
  from: string;
  status: ClientStatus;
  to: string;
};

/** The last `hours`, or as much of them as the client exists: the share of each state in the *known* time. Time in the state `unknown` (never heard, or the bridge was silent) is counted apart, so that the other shares add up to 1; all are 0 when nothing is known. */
export type UptimeWindow = {
  hours: number;
  known_seconds: number;
  shares: Record<string, number>;
  unknown_seconds: number;
};

/** Somebody who signs in. `one_time_until`: they have a password that an admin handed over; until then it signs in, and has to be changed. `must_change_password` without it: a first admin who still has the password that was made for them. */
export type User = {
  created_at: string;
  disabled_at: string | null;
  id: number;
  last_sign_in_at: string | null;
  must_change_password: boolean;
  one_time_until: string | null;
  role: Role;
  second_factor: boolean;
  username: string;
};

/** Another role, or whether they may sign in at all. What is left out stays. */
export type UserChange = {
  disabled?: boolean;
  role?: Role;
};

/** One wave: how many members, what was decided of them, and where their commands stand. */
export type WaveView = {
  clients: number;
  number: number;
  outcomes: Record<string, number>;
  states: Record<string, number>;
};

/** Days of the week, in the order of ISO 8601. */
export type Weekday = "friday" | "monday" | "saturday" | "sunday" | "thursday" | "tuesday" | "wednesday";

/** A column with few different values: each of them once, and which of them each client has. */
export type Words = {
  places: Array<number>;
  words: Array<string | null>;
};
