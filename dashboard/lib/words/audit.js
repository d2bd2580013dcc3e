/** The audit log. */
export const auditWords = {
  title: "Audit log",
  lead: "Who changed what, and with what result. Entries cannot be removed.",
  none: "Nothing matches.",
  failed: "The audit log could not be loaded.",
  actor: "Who",
  action: "What",
  target: "On what",
  filter: "Filter",
};
