import { read, readMetrics } from "./api.js"
import { element, shown, table } from "./dom.js"
import { providerCalls, samplesOf, sumOf } from "./metrics.js"

const COUNT = new Intl.NumberFormat(undefined, { maximumFractionDigits: 2 })

/** @param {number | undefined} value @param {string} [unit] */
const figure = (value, unit = "") => (value === undefined ? "–" : `${COUNT.format(value)}${unit}`)

/**
 * A figure, in parts of `per`; `limit` is the value from which a person should look.
 * @typedef {{ readonly title: string, readonly metric: string, readonly unit?: string, readonly per?: number, readonly limit?: number, readonly labels?: Readonly<Record<string, string>> }} Figure
 */

/** @type {ReadonlyArray<{ readonly title: string, readonly figures: ReadonlyArray<Figure> }>} */
const GROUPS = [
  {
    title: "Money",
    figures: [
      {
        title: "Sold, since the servers started",
        metric: "agentos_money_usdt_total",
        unit: " USDT",
        labels: { account: "fulfilled" }
      },
      {
        title: "Refunded, since then",
        metric: "agentos_money_usdt_total",
        unit: " USDT",
        labels: { account: "refunded" }
      },
      { title: "Refunds due", metric: "agentos_refunds_due_usdt", unit: " USDT", limit: 0.01 },
      { title: "Open operations", metric: "agentos_operations_open" },
      { title: "Oldest open operation", metric: "agentos_operations_open_oldest_seconds", unit: " s", limit: 300 },
      { title: "Unclaimed transfers", metric: "agentos_ledger_unclaimed_transfers", limit: 1 },
      { title: "Stopped sales", metric: "agentos_sales_stopped", limit: 1 }
    ]
  },
  {
    title: "Events",
    figures: [
      { title: "Sockets", metric: "agentos_realtime_sockets" },
      { title: "Sessions", metric: "agentos_realtime_sessions" },
      { title: "Delivered", metric: "agentos_realtime_deliveries_total" },
      { title: "Webhooks due", metric: "agentos_webhooks_due" },
      { title: "Oldest overdue webhook", metric: "agentos_webhooks_overdue_seconds", unit: " s", limit: 300 }
    ]
  },
  {
    title: "Mail and calls",
    figures: [
      { title: "Mail received", metric: "agentos_mail_received_total" },
      { title: "Inbound mail waiting", metric: "agentos_inbound_mails_waiting" },
      { title: "Oldest of it", metric: "agentos_inbound_mails_oldest_seconds", unit: " s", limit: 60 },
      { title: "Outbound messages waiting", metric: "agentos_messages_waiting" },
      { title: "Oldest overdue message", metric: "agentos_messages_overdue_seconds", unit: " s", limit: 600 },
      { title: "Live calls on this server", metric: "agentos_call_relays" }
    ]
  },
  {
    title: "Server and database",
    figures: [
      { title: "Database answers in", metric: "agentos_database_answer_seconds", unit: " s", limit: 1 },
      { title: "Memory", metric: "process_resident_memory_bytes", unit: " MB", per: 1e6 },
      { title: "Event loop delay, p99", metric: "nodejs_eventloop_lag_p99_seconds", unit: " s", limit: 0.2 }
    ]
  }
]

/** @typedef {{ readonly name: string, readonly dueAt: string | null, readonly failure: string | null, readonly failedAt: string | null }} Job */

/** The state of the service. */
export const overview = async () => {
  const [text, { items }, { stops }] = await Promise.all([readMetrics(), read("jobs"), read("selling")])
  const samples = samplesOf(text)
  // A metric without a sample has counted nothing, unless the database that it is read from is away.
  const absent = sumOf(samples, "agentos_database_up") === 1 ? 0 : undefined
  const failing = /** @type {ReadonlyArray<Job>} */ (items).filter(({ failure }) => failure !== null)
  const groups = GROUPS.map(({ figures, title }) =>
    element(
      "section",
      {},
      element("h2", {}, title),
      element(
        "dl",
        { class: "cards" },
        ...figures.map(({ labels, limit = Infinity, metric, per = 1, title: name, unit }) => {
          const sum = sumOf(samples, metric, labels) ?? absent
          const value = sum === undefined ? undefined : sum / per
          return element(
            "div",
            {},
            element("dt", {}, name),
            element("dd", { class: (value ?? 0) >= limit && "warn" }, figure(value, unit))
          )
        })
      )
    )
  )
  return [
    element("h1", {}, "Overview"),
    ...groups,
    element("h2", {}, "Stopped sales"),
    table(
      "Stopped sales",
      [
        { title: "Stopped", of: ({ network, service }) => network ?? service },
        { title: "Since", of: ({ at }) => shown(at) },
        { title: "Reason", of: ({ reason }) => reason }
      ],
      /** @type {ReadonlyArray<{ service?: string, network?: string, at: string, reason: string }>} */ (stops)
    ),
    element("h2", {}, "Failing jobs"),
    table(
      "Failing jobs",
      [
        { title: "Job", of: ({ name }) => name },
        { title: "Failed", of: ({ failedAt }) => shown(failedAt) },
        { title: "Why", of: ({ failure }) => failure }
      ],
      failing
    ),
    element("h2", {}, "Providers, since the server started"),
    table(
      "Providers",
      [
        { title: "Provider", of: ({ port }) => port },
        { title: "Call", of: ({ method }) => method },
        { title: "Calls", isNumber: true, of: ({ calls }) => calls },
        { title: "Failed", isNumber: true, of: ({ failed }) => failed },
        { title: "Outcome unknown", isNumber: true, of: ({ unknown }) => unknown },
        { title: "Mean", isNumber: true, of: ({ calls, seconds }) => figure(seconds / calls, " s") }
      ],
      providerCalls(samples)
    )
  ]
}
