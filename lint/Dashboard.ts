/** The dashboard of Grafana as data: deploy/grafana/agentos.json is made from it by `generate:deployment`. */

interface Panel {
  readonly title: string
  readonly description: string
  /** A unit of Grafana: `reqps` are requests a second, `ops` are operations a second, `short` is a count. */
  readonly unit: "s" | "bytes" | "percentunit" | "reqps" | "ops" | "short"
  /** Without it, the panel shows the course of time. */
  readonly type?: "stat"
  /** Whether values can be negative, so that the axis does not begin at 0. */
  readonly isSigned?: true
  /** Each expression, under the legend of its series. */
  readonly queries: Readonly<Record<string, string>>
}

const PROCESS = "{{instance}} {{worker}}"
/** Other programs that the same Prometheus scrapes have metrics of these names, too. */
const OURS = '{job="agentos"}'

const legendOf = (labels: ReadonlyArray<string>): string => labels.map((label) => `{{${label}}}`).join(" ")

/** Returns a query for the increase of counters a second, by labels. */
const ratePer = (labels: ReadonlyArray<string>, counter: string): Panel["queries"] => ({
  [legendOf(labels)]: `sum by (${labels.join(", ")}) (rate(${counter}[$__rate_interval]))`
})

/** Returns a query for a metric of the store. It is the same on every server, so that a sum would count it several times. */
const maxPer = (labels: ReadonlyArray<string>, gauge: string): Panel["queries"] => ({
  [legendOf(labels)]: `max by (${labels.join(", ")}) (${gauge})`
})

/** Returns a query for each quantile of a histogram, over all of its series. */
const quantilesOf = (histogram: string): Panel["queries"] =>
  Object.fromEntries(
    [50, 95, 99].map((percent) => [
      `p${percent}`,
      `histogram_quantile(${percent / 100}, sum by (le) (rate(${histogram}_bucket[$__rate_interval])))`
    ])
  )

const ROWS: Readonly<Record<string, ReadonlyArray<Panel>>> = {
  "State now": [
    {
      title: "Servers",
      description: "Operator listeners that Prometheus reaches, and those that it does not.",
      unit: "short",
      type: "stat",
      queries: { up: 'sum(up{job="agentos"})', down: 'count(up{job="agentos"} == 0) or vector(0)' }
    },
    {
      title: "Refunds due",
      description: "Paid operations whose refund was not sent yet. They stay while the refund wallet is empty.",
      unit: "short",
      type: "stat",
      queries: { "refunds due": 'max(agentos_operations_open{state="refund_due"}) or vector(0)' }
    },
    {
      title: "Without an owner",
      description: "Transfers to payTo that bought nothing, and numbers at the carrier without a record.",
      unit: "short",
      type: "stat",
      queries: {
        transfers: "sum(max by (network, asset) (agentos_ledger_unclaimed_transfers)) or vector(0)",
        numbers: "max(agentos_numbers_unrecorded) or vector(0)"
      }
    }
  ],
  "Traffic and errors": [
    {
      title: "Requests by class of status",
      description: "402 asks for a payment, and 499 means that the client disconnected before the answer.",
      unit: "reqps",
      queries: Object.fromEntries(
        [
          ["2xx, 3xx", '=~"[23].."'],
          ["402", '="402"'],
          ["499", '="499"'],
          ["other 4xx", '=~"4..",status!~"402|499"'],
          ["5xx", '=~"5.."']
        ].map(([legend, status]) => [
          legend,
          `sum(rate(agentos_http_requests_total{status${status}}[$__rate_interval]))`
        ])
      )
    },
    {
      title: "Share of 5xx",
      description: "Requests that the server failed. The alert AgentOSErrors fires above 1 %.",
      unit: "percentunit",
      queries: {
        "5xx":
          '(sum(rate(agentos_http_requests_total{status=~"5.."}[$__rate_interval])) or vector(0)) / sum(rate(agentos_http_requests_total[$__rate_interval]))'
      }
    },
    {
      title: "5xx by route",
      description: "Routes with a 5xx. The log has the cause by request id.",
      unit: "reqps",
      queries: ratePer(["method", "route", "status"], 'agentos_http_requests_total{status=~"5.."}')
    },
    {
      title: "Busiest routes",
      description: "The ten routes with most requests; none is a path without a route.",
      unit: "reqps",
      queries: { "{{route}}": "topk(10, sum by (route) (rate(agentos_http_requests_total[$__rate_interval])))" }
    },
    {
      title: "Refused by rate limits",
      description: "Requests, messages and connections beyond a rate, by rule.",
      unit: "ops",
      queries: ratePer(["rule"], "agentos_rate_limit_refusals_total")
    },
    {
      title: "Refused by quotas",
      description: "Requests, mails and calls beyond a quota, or of a suspended tenant, by reason.",
      unit: "ops",
      queries: ratePer(["reason"], "agentos_quota_refusals_total")
    }
  ],
  Latency: [
    {
      title: "Duration of requests",
      description: "From the headers of a request to its response, over all routes.",
      unit: "s",
      queries: quantilesOf("agentos_http_request_duration_seconds")
    },
    {
      title: "Slowest routes, p95",
      description: "The ten routes with the highest p95. A purchase waits for its chain.",
      unit: "s",
      queries: {
        "{{route}}":
          "topk(10, histogram_quantile(0.95, sum by (le, route) (rate(agentos_http_request_duration_seconds_bucket[$__rate_interval]))))"
      }
    }
  ],
  "Payments and refunds": [
    {
      title: "Settlements",
      description:
        "Payments that were submitted to the facilitator, by outcome. An unknown one is looked up on the chain.",
      unit: "ops",
      queries: ratePer(["outcome"], 'agentos_provider_calls_total{port="payment",method="settle"}')
    },
    {
      title: "Refunds",
      description: "Refunds that were submitted to the facilitator, by outcome.",
      unit: "ops",
      queries: ratePer(["outcome"], 'agentos_provider_calls_total{port="payment",method="refund"}')
    },
    {
      title: "Open operations",
      description: "Paid operations that are not final, by state, counted up to 10,000.",
      unit: "short",
      queries: maxPer(["state"], "agentos_operations_open")
    },
    {
      title: "Oldest open operation",
      description: "Its age by state. Alerts fire after ten minutes, for fulfilling after an hour.",
      unit: "s",
      queries: maxPer(["state"], "agentos_operations_open_oldest_seconds")
    },
    {
      title: "Sold and refunded",
      description: "Prices of the operations that ended so, a minute.",
      unit: "short",
      queries: { "{{account}}": "60 * sum by (account) (rate(agentos_money_usdt_total[$__rate_interval]))" }
    },
    {
      title: "Amount due back",
      description: "USDT that is due back to payers, of open operations, by network and token.",
      unit: "short",
      queries: maxPer(["network", "asset"], "agentos_refunds_due_usdt")
    },
    {
      title: "Unclaimed transfers",
      description: "Transfers to payTo in the last day that no operation knows, as of the last ledger-audit.",
      unit: "short",
      queries: maxPer(["network", "asset"], "agentos_ledger_unclaimed_transfers")
    }
  ],
  Mail: [
    {
      title: "Mail to the relay",
      description: "Outbound messages by outcome. Temporary ones are retried for 24 hours.",
      unit: "ops",
      queries: ratePer(["outcome"], 'agentos_provider_calls_total{port="email",method="send"}')
    },
    {
      title: "Paid and not performed",
      description: "Operations that wait for the relay or the carrier, deferred mail among them.",
      unit: "short",
      queries: { fulfilling: 'max(agentos_operations_open{state="fulfilling"}) or vector(0)' }
    },
    {
      title: "Waiting messages",
      description:
        "Outbound messages that are scheduled, or that the relay deferred for some recipients, up to 10,000.",
      unit: "short",
      queries: maxPer(["state"], "agentos_messages_waiting")
    },
    {
      title: "Overdue messages",
      description:
        "How long the first waiting message is due. The alert AgentOSMessagesOverdue fires after ten minutes.",
      unit: "s",
      queries: { overdue: "max(agentos_messages_overdue_seconds)" }
    },
    {
      title: "Inbound queue",
      description: "How long the oldest accepted mail waits for its mailbox.",
      unit: "s",
      queries: { oldest: "max(agentos_inbound_mails_oldest_seconds)" }
    },
    {
      title: "Received mail",
      description: "Mails that SMTP accepted, of all servers. Zero for long may mean that the MX record is wrong.",
      unit: "ops",
      queries: { received: "sum(rate(agentos_mail_received_total[$__rate_interval]))" }
    },
    {
      title: "Refused inbound mail",
      description: "Recipients and mails that SMTP refused, by reason.",
      unit: "ops",
      queries: ratePer(["reason"], "agentos_mail_refused_total")
    },
    {
      title: "Kept out by sender policies",
      description: "Mailboxes that did not receive a mail. A rise of deferred means that DNS fails.",
      unit: "ops",
      queries: ratePer(["outcome"], "agentos_mail_sender_policy_total")
    }
  ],
  "Events and webhooks": [
    {
      title: "Sockets and sessions",
      description: "Of all servers. A process refuses sockets beyond 20,000.",
      unit: "short",
      queries: {
        sockets: "sum(agentos_realtime_sockets)",
        "sessions, {{mode}}": "sum by (mode) (agentos_realtime_sessions)"
      }
    },
    {
      title: "Deliveries and acknowledgements",
      description:
        "Events sent over sockets, and acknowledgements by outcome. An event is sent again until it is acknowledged.",
      unit: "ops",
      queries: {
        deliveries: "sum(rate(agentos_realtime_deliveries_total[$__rate_interval]))",
        ...ratePer(["outcome"], "agentos_realtime_acknowledgements_total")
      }
    },
    {
      title: "Webhook attempts",
      description:
        "Requests to event webhooks by outcome. A failed one is retried for three days, then the webhook pauses.",
      unit: "ops",
      queries: {
        ...ratePer(["outcome"], "agentos_webhook_attempts_total"),
        paused: "sum(rate(agentos_webhooks_paused_total[$__rate_interval]))"
      }
    }
  ],
  Calls: [
    {
      title: "Conversations",
      description: "Calls whose conversation a process leads. Above 500, one core no longer leads them well.",
      unit: "short",
      queries: { [PROCESS]: "agentos_call_relays" }
    },
    {
      title: "Broken conversations",
      description: "Relays that the carrier reported as broken.",
      unit: "ops",
      queries: { broken: "sum(rate(agentos_call_relays_broken_total[$__rate_interval]))" }
    },
    {
      title: "Placed calls",
      description: "Calls that the carrier was asked to place, by outcome.",
      unit: "ops",
      queries: ratePer(["outcome"], 'agentos_provider_calls_total{port="telephony",method="place"}')
    }
  ],
  "Providers and chain": [
    {
      title: "Calls of providers",
      description: "payment is the chain and the facilitator, email the relay, telephony the carrier.",
      unit: "ops",
      queries: ratePer(["port", "method"], "agentos_provider_calls_total")
    },
    {
      title: "Failures of providers",
      description: "Calls that a provider failed, by outcome. The log has a line for each with the reason.",
      unit: "ops",
      queries: ratePer(
        ["port", "method", "outcome"],
        'agentos_provider_calls_total{outcome=~"temporary|misconfigured|unknown"}'
      )
    },
    {
      title: "Duration of provider calls, p95",
      description: "From a call to its answer or failure.",
      unit: "s",
      queries: {
        "{{port}} {{method}}":
          "histogram_quantile(0.95, sum by (le, port, method) (rate(agentos_provider_call_duration_seconds_bucket[$__rate_interval])))"
      }
    }
  ],
  Database: [
    {
      title: "Database answers",
      description: "1 while the database answers a server within 2 s and can commit.",
      unit: "short",
      queries: { "{{instance}}": "agentos_database_up" }
    },
    {
      title: "Duration of an answer",
      description: "Of the queries for these metrics, the wait for a connection of the pool included.",
      unit: "s",
      queries: { "{{instance}}": "agentos_database_answer_seconds" }
    },
    {
      title: "Connections",
      description: "Of all clients to the database server, by state, and its limit.",
      unit: "short",
      queries: {
        "{{state}}": "max by (state) (agentos_database_connections)",
        limit: "max(agentos_database_connections_max)"
      }
    },
    {
      title: "Largest tables",
      description: "The ten largest tables with their indexes, as of their last vacuum.",
      unit: "bytes",
      queries: { "{{table}}": "topk(10, max by (table) (agentos_table_bytes))" }
    }
  ],
  Processes: [
    {
      title: "Uptime",
      description: "Since each process began to serve.",
      unit: "s",
      queries: { [PROCESS]: "time() - process_start_time_seconds" }
    },
    {
      title: "Processor",
      description: "Cores that each process uses. JavaScript runs on one of them; log and encryption use others.",
      unit: "short",
      queries: { [PROCESS]: `rate(process_cpu_seconds_total${OURS}[$__rate_interval])` }
    },
    {
      title: "Memory",
      description: "Resident memory of each process, and the part that JavaScript objects use.",
      unit: "bytes",
      queries: {
        [`resident, ${PROCESS}`]: `process_resident_memory_bytes${OURS}`,
        [`heap, ${PROCESS}`]: `nodejs_heap_size_used_bytes${OURS}`
      }
    },
    {
      title: "Event loop, p99",
      description: "Intervals of a timer of 10 ms. The alert AgentOSEventLoop fires above 0.25 s.",
      unit: "s",
      queries: { [PROCESS]: `nodejs_eventloop_lag_p99_seconds${OURS}` }
    },
    {
      title: "File descriptors",
      description: "Share of the limit that is open. The alert AgentOSFileDescriptors fires above 80 %.",
      unit: "percentunit",
      queries: { [PROCESS]: `process_open_fds${OURS} / process_max_fds${OURS}` }
    },
    {
      title: "Clock",
      description: "Seconds by which a server's clock is ahead of its source. From 30 s on, the server is not ready.",
      unit: "s",
      isSigned: true,
      queries: { [`${PROCESS} {{source}}`]: "agentos_clock_offset_seconds" }
    },
    {
      title: "Dropped lines of the log",
      description: "Lines that the reader of the log did not take in time.",
      unit: "ops",
      queries: { [PROCESS]: "rate(agentos_log_lines_dropped_total[$__rate_interval])" }
    }
  ],
  "Certificates and jobs": [
    {
      title: "Certificates",
      description: "Time until a configured certificate expires.",
      unit: "s",
      queries: { "{{listener}}": "min by (listener) (agentos_certificate_expiry_timestamp_seconds) - time()" }
    },
    {
      title: "Overdue jobs",
      description: "Time since a job became due without a run.",
      unit: "s",
      queries: maxPer(["job"], "agentos_job_overdue_seconds")
    },
    {
      title: "Since the last success",
      description: "Of each job that has succeeded before.",
      unit: "s",
      queries: { "{{job}}": "time() - (max by (job) (agentos_job_last_success_timestamp_seconds) > 0)" }
    },
    {
      title: "Failed runs, one hour",
      description: "Runs of each job that failed within the hour. GET /internal/jobs has the messages.",
      unit: "short",
      queries: { "{{job}}": "max by (job) (increase(agentos_job_failures_total[1h])) > 0" }
    },
    {
      title: "Items processed",
      description: "In the runs of each job.",
      unit: "ops",
      queries: { "{{job}}": "max by (job) (rate(agentos_job_done_total[$__rate_interval]))" }
    }
  ]
}

/** Grafana's grid has 24 columns. */
const PANEL = { w: 8, h: 8 }
const PANELS_PER_LINE = 3
const DATASOURCE = { type: "prometheus", uid: "${datasource}" }

const panelJson = ({ description, isSigned, queries, title, type, unit }: Panel, index: number, top: number) => ({
  type: type ?? "timeseries",
  title,
  description,
  datasource: DATASOURCE,
  gridPos: {
    ...PANEL,
    x: (index % PANELS_PER_LINE) * PANEL.w,
    y: top + Math.floor(index / PANELS_PER_LINE) * PANEL.h
  },
  fieldConfig: { defaults: { unit, ...(isSigned ? {} : { min: 0 }) }, overrides: [] },
  options:
    type === "stat"
      ? { reduceOptions: { calcs: ["lastNotNull"], fields: "", values: false } }
      : { legend: { displayMode: "list", placement: "bottom" }, tooltip: { mode: "multi", sort: "desc" } },
  targets: Object.entries(queries).map(([legendFormat, expr], query) => ({
    refId: String.fromCodePoint("A".codePointAt(0)! + query),
    datasource: DATASOURCE,
    expr,
    legendFormat
  }))
})

const panels = () => {
  let top = 0
  return Object.entries(ROWS)
    .flatMap(([title, row]) => {
      const y = top
      top += 1 + Math.ceil(row.length / PANELS_PER_LINE) * PANEL.h
      return [
        { type: "row", title, collapsed: false, gridPos: { x: 0, y, w: 24, h: 1 }, panels: [] },
        ...row.map((panel, index) => panelJson(panel, index, y + 1))
      ]
    })
    .map((panel, index) => ({ id: index + 1, ...panel }))
}

/** Returns the dashboard in the format of Grafana 12.0. */
export const dashboardText = (): string => {
  const dashboard = {
    uid: "agentos",
    title: "AgentOS",
    description: "Generated from lint/Dashboard.ts by `npx -y pnpm@12 generate:deployment`.",
    tags: ["agentos"],
    schemaVersion: 41,
    editable: true,
    graphTooltip: 1,
    refresh: "30s",
    time: { from: "now-6h", to: "now" },
    templating: {
      list: [{ name: "datasource", label: "Data source", type: "datasource", query: "prometheus", refresh: 1 }]
    },
    panels: panels()
  }
  return `${JSON.stringify(dashboard, undefined, 2)}\n`
}
