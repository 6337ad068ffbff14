const words = (list: string): ReadonlyArray<string> => list.trim().split(/\s+/)

/**
 * Local parts that are reserved for the operator of a domain, grouped by reason. They are written without separators:
 * `no-reply`, `no.reply` and `no_reply` are all the name `noreply`.
 */
export const RESERVED_NAMES = {
  /** RFC 2142: mailboxes of services, roles and functions. RFC 5321, section 4.5.1 requires postmaster. */
  roles: words(`
    abuse ftp hostmaster info listrequest marketing news noc postmaster sales security support usenet uucp webmaster
    www
  `),
  /**
   * CA/Browser Forum Baseline Requirements, section 3.2.2.4.4, and names that certificate authorities accepted before:
   * mail to them proves control of the domain.
   */
  certificates: words(`
    admin administrator is it mis root ssl ssladmin ssladministrator sslwebmaster sysadmin webadmin
  `),
  /** RFC 7489 (DMARC), RFC 8460 (TLS reports), RFC 8461 (MTA-STS), RFC 5965 and RFC 6449 (feedback loops). */
  reports: words(`
    arf arfreports complaint complaints dkim dmarc dmarcreport dmarcreports fbl feedback feedbackloop mtasts
    phishing rua ruf smtptlsreports spam spf stsreports tlsreport tlsreports tlsrpt
  `),
  /** Senders and receivers of automatic mail: RFC 3834, RFC 3464, RFC 2919 and mailing list software. */
  automatic: words(`
    autoreply bounce bounces daemon donotreply listserv mailerdaemon mailman majordomo noreply notification
    notifications notify unsubscribe
  `),
  /**
   * Hosts that clients look up automatically (WPAD, ISATAP of RFC 5214, the setup of mail clients), and hosts of the
   * service.
   */
  hosts: words(`
    api autoconfig autodiscover broadcasthost dns docs imap isatap localdomain localhost mail mx pop pop3 smtp
    status webmail wpad
  `),
  /** Accounts of Unix and of its services. */
  accounts: words("bin cron nobody operator postgres superuser sys system wwwdata"),
  /** Names that a stranger could use to ask for money. */
  money: words(`
    accounting accountspayable accountsreceivable billing chargeback chargebacks finance invoice invoices payment
    payments payout payouts receipt receipts refund refunds treasury
  `),
  /** Names that a stranger could use to ask for a token, a password or a code. */
  signIn: words(`
    2fa account accounts auth authentication confirm confirmation login mfa oauth otp password passwords register
    signin signup sso verification verify
  `),
  /** Names that people may read as the voice of the service. */
  voice: words(`
    admins alert alerts announcement announcements careers ceo cfo compliance contact copyright cto customercare
    customerservice customersupport dmca dpo fraud gdpr help helpdesk hr jobs kyc lawenforcement legal media
    moderator moderators newsletter official owner press privacy safety service staff superadmin team techsupport
    trust trustandsafety update updates
  `)
} satisfies Readonly<Record<string, ReadonlyArray<string>>>

/** Names of the service itself. They are also reserved next to another word, for example agentos-support. */
export const SERVICE_NAMES = ["agentos", "agentctl"] as const
