/** The API's answers by the names that the dashboard uses for them. The shapes come from the OpenAPI document. */

import type * as Api from "./openapi";

export type Status = Api.ClientStatus;
export type Action = Api.CommandAction;
export type CommandState = Api.CommandState;
export type Level = Api.LogLevel;
export type Role = Api.Role;
export type Command = Api.Command;
export type Failure = Api.FailedService;
export type Acknowledged = Api.AcknowledgedFailure;
export type Media = Api.Media;
export type Conversion = Api.Conversion;
export type Principal = Api.Caller;
export type Session = Api.Session;
export type Uptime = Api.Uptime;
export type Segment = Api.UptimeSegment;
export type Event = Api.Event;
export type Batch = Api.Batch;
export type BatchDetails = Api.BatchDetails;
export type BatchMember = Api.BatchMember;
export type Sent = Api.Sent;
export type ClientRecovery = Api.ClientRecovery;
export type DeadLetter = Api.DeadLetter;
export type Incident = Api.Incident;
export type IncidentDetails = Api.IncidentDetails;
export type QuietTime = Api.QuietTime;
export type QuietNow = Api.QuietNowView;
export type ClientQuiet = Api.ClientQuietTimes;
export type Summary = Api.Summary;
export type Settings = Api.Settings;
export type Token = Api.Token;
export type IssuedToken = Api.IssuedToken;
export type AuditEntry = Api.AuditEntry;

/** A row of the overview; it has the fields of a display's own page once they were loaded. */
export type Client = Api.OverviewClient & Partial<Omit<Api.ClientDetails, keyof Api.OverviewClient>>;

/** The overview in `format=packed`. */
export type Overview = Omit<Api.OverviewAnswer, "packed" | "counts"> & {
  packed: Api.Packed;
  counts: Record<Status | "total" | "service_failed" | "service_mended" | "screen_failed" | "limit_passed", number>;
};

/** A log line; in lists of the whole fleet with its client. */
export type LogRow = Api.Log & Partial<Pick<Api.ErrorLog, "client_uuid" | "client_name">>;

/** A page of displays of a large fleet. */
export type Displays = Api.DisplaysAnswer;
export type Place = Api.PlaceOfFleet;

export interface Page<T> {
  items: T[];
  next_cursor: string | null;
}

/** RFC 9457 problem document with the extras that the dashboard reads. */
export type Problem = Omit<Api.Problem, "request_id"> & {
  request_id?: string;
  command_id?: string;
  lockout_until?: string;
  retry_after_seconds?: number;
  service_failed_at?: string;
};

/** What the fleet page is narrowed by: a part that is empty keeps every display. Here, where no browser loads it. */
export interface Filter {
  /** Of a tile, or "unsteady". */
  status?: string;
  /** Of the search, folded: a display has all of them. */
  words?: string[];
  site?: string;
  /** Only displays without a site. */
  nosite?: boolean;
  tag?: string;
  /** The id of an open incident. */
  incident?: string;
  /** uuid -> losses of the broker in the last hour. */
  unsteady?: ReadonlyMap<string, number>;
}
