/** Settings of a server under load from a few tenants at one address. */
export const WITHOUT_LIMITS: Readonly<Record<string, string>> = {
  AGENTOS_RATE_LIMIT_PER_MINUTE: "0",
  AGENTOS_CALLS_AT_ONCE_PER_NUMBER: "0",
  AGENTOS_CALLS_AT_ONCE_PER_TENANT: "0",
  AGENTOS_MAIL_RECIPIENTS_PER_DAY_AT_FIRST: "0",
  AGENTOS_MAIL_RECIPIENTS_PER_DAY: "0"
}
