/**
 * The topics to which service records and responses link as `/docs#topic`, with the title and address of each. The first
 * page has a link for each, and its script follows the one that the fragment names.
 */
const TOPICS: Readonly<Record<string, readonly [title: string, path: string]>> = {
  discovery: ["Services and prices", "/docs/reference/services"],
  payments: ["How to pay", "/docs/pay"],
  "payment-networks": ["Choose a network", "/docs/pay#choose-a-network"],
  "payment-status": ["State of a payment", "/docs/pay#the-state-of-a-payment"],
  authentication: ["Authentication", "/docs/authentication"],
  mailboxes: ["Mailboxes", "/docs/mail#mailboxes"],
  sending: ["Sending", "/docs/mail#sending"],
  reading: ["Reading", "/docs/mail#reading"],
  threads: ["Threads", "/docs/mail#threads"],
  labels: ["Labels", "/docs/mail#labels"],
  events: ["Events", "/docs/events"],
  realtime: ["Realtime", "/docs/events#realtime"],
  webhooks: ["Event webhooks", "/docs/webhooks"],
  numbers: ["Numbers", "/docs/phone#numbers"],
  calls: ["Calls", "/docs/phone#calls"],
  "inbound-minutes": ["Inbound minutes", "/docs/phone#inbound-minutes"],
  "voice-callbacks": ["Voice callbacks", "/docs/phone#voice-callbacks"],
  "voice-sessions": ["Voice sessions", "/docs/phone#voice-sessions"],
  domains: ["Domains", "/docs/reference/register-domain"],
  errors: ["Errors", "/docs/errors"],
  limits: ["Limits", "/docs/limits"],
  "rate-limits": ["Rate limits", "/docs/limits#rate-limits"]
}

export const topicList = Object.entries(TOPICS)
  .map(([topic, [title, path]]) => `- <a id="${topic}" href="${path}">${title}</a>`)
  .join("\n")

/** Follows the link that the fragment of the address names. */
export const TOPIC_SCRIPT = `const topic = document.getElementById(location.hash.slice(1))
if (topic instanceof HTMLAnchorElement) location.replace(topic.href)`
