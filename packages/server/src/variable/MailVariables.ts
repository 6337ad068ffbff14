import { inGroup, integer } from "./Variable.ts"

export const MAIL_VARIABLES = inGroup("mail", {
  AGENTOS_EMAIL_DOMAIN: {
    kind: "text",
    otherwise: "mail services answer 503",
    example: "agents.example.com",
    meaning: "domain of the mailboxes"
  },
  AGENTOS_POSTMASTER: {
    kind: "text",
    otherwise: "such mail is accepted, recorded and logged as a warning",
    example: "operator@agents.example.com",
    meaning: "address of a mailbox of this service that receives mail to `postmaster` and `abuse`"
  },
  AGENTOS_SMTP_RELAY_HOST: {
    kind: "text",
    otherwise: "required with a domain",
    example: "relay.example.com",
    meaning: "relay for outbound mail"
  },
  AGENTOS_SMTP_RELAY_PORT: integer(0, 65_535, { default: 587, meaning: "its port" }),
  AGENTOS_SMTP_RELAY_TLS: {
    kind: "choice",
    values: ["none", "opportunistic", "starttls", "tls"],
    default: "starttls",
    meaning: "encryption: `starttls`, `tls`, `opportunistic` or `none`"
  },
  AGENTOS_SMTP_RELAY_USER: { kind: "text", meaning: "user at the relay, together with `AGENTOS_SMTP_RELAY_PASSWORD`" },
  AGENTOS_SMTP_RELAY_PASSWORD: { kind: "text", isSecret: true, meaning: "password of the user" },
  AGENTOS_DKIM_SELECTOR: {
    kind: "text",
    otherwise: "outbound mail is not signed",
    example: "agentos",
    meaning: "selector of the key that signs outbound mail, together with `AGENTOS_DKIM_KEY_FILE`"
  },
  AGENTOS_DKIM_KEY_FILE: {
    kind: "text",
    example: "/etc/agentos/dkim.pem",
    meaning: "PEM file with the private key (RSA)"
  },
  AGENTOS_DKIM_NEXT_SELECTOR: {
    kind: "text",
    otherwise: "the key of `AGENTOS_DKIM_SELECTOR` signs permanently",
    example: "agentos2",
    meaning:
      "selector of the key that replaces that of `AGENTOS_DKIM_SELECTOR` without a restart ([steps](/docs/deploy#replace-the-dkim-key)), together with the two following variables"
  },
  AGENTOS_DKIM_NEXT_KEY_FILE: {
    kind: "text",
    example: "/etc/agentos/dkim2.pem",
    meaning: "PEM file with its private key (RSA)"
  },
  AGENTOS_DKIM_NEXT_FROM: {
    kind: "text",
    example: "2026-01-31T12:00:00Z",
    meaning: "date and time, with an offset from UTC, from which it signs"
  },
  AGENTOS_SMTP_HOST: { kind: "text", default: "127.0.0.1", meaning: "listening address for inbound mail" },
  AGENTOS_SMTP_PORT: integer(0, 65_535, { default: 25, meaning: "listening port for inbound mail" }),
  AGENTOS_SMTP_NAME: {
    kind: "text",
    otherwise: "the domain",
    example: "mx.example.com",
    meaning: "name of this host in mail, which the MX record names"
  },
  AGENTOS_SMTP_KEY_FILE: {
    kind: "text",
    otherwise: "self-signed",
    example: "/etc/agentos/smtp-key.pem",
    meaning: "key of the TLS certificate for inbound mail, together with `AGENTOS_SMTP_CERT_FILE`"
  },
  AGENTOS_SMTP_CERT_FILE: {
    kind: "text",
    example: "/etc/agentos/smtp-cert.pem",
    meaning: "the certificate with its chain"
  },
  AGENTOS_SMTP_MAX_SESSIONS: integer(1, 10_000, {
    default: 256,
    meaning:
      "SMTP sessions at a time. One network (IPv4 /24, IPv6 /48) gets half of them at most; a quarter is kept for networks with fewer than 4"
  }),
  AGENTOS_SMTP_MAX_SESSIONS_PER_ADDRESS: integer(1, 10_000, {
    otherwise: "80, or all sessions if they are fewer",
    example: "80",
    meaning: "sessions at a time from one address (IPv6 /64)"
  }),
  AGENTOS_SMTP_MESSAGES_PER_HOUR: integer(1, 10_000_000, {
    default: 6_000,
    meaning: "messages in an hour from one address"
  }),
  AGENTOS_DNS_SERVERS: {
    kind: "text",
    otherwise: "the system's resolver",
    example: "192.0.2.1,[2001:db8::1]:53",
    meaning: "DNS servers for SPF, DKIM and DMARC records, comma-separated IP addresses"
  },
  AGENTOS_DNS_ZONE_FILE: {
    kind: "text",
    example: "zone.json",
    meaning: "JSON file with DNS records that replace all of DNS, for tests"
  }
})
