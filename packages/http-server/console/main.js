import { read, Refusal, token } from "./api.js"
import { buttons, isConfirming } from "./dialog.js"
import { element, fields, one, table, tell, textOf } from "./dom.js"
import { DETAILS, LISTS, TIMELINE } from "./lists.js"
import { overview } from "./overview.js"

/** @typedef {import("./lists.js").List} List */
/** @typedef {import("./lists.js").Row} Row */

const REFRESH_MILLIS = 5_000

const content = one("#content")
const header = one("header")
const isLive = /** @type {HTMLInputElement} */ (one(".live input"))

/** The page that the address names: its name, the thing that it is about, and the filters of a list. */
const address = () => {
  const [path = "", search = ""] = location.hash.replace(/^#\/?/, "").split("?", 2)
  const [name = "", id = ""] = path.split("/").map(decodeURIComponent)
  return { name, id, query: Object.fromEntries(new URLSearchParams(search)) }
}

/** An answer that the person sees nowhere else, for example a token. @param {any} answer */
const afterChange = (answer) => {
  if (typeof answer?.token !== "string") return void show()
  content.replaceChildren(
    element("h1", {}, "Copy the token now"),
    element("div", { class: "card", "data-once": true }, fields(answer)),
    element("p", {}, element("a", { href: "#/operators", onclick: () => void show() }, "Done"))
  )
}

/** @param {List} list @param {Readonly<Record<string, string>>} query */
const filtersOf = ({ filters = [], name }, query) =>
  filters.length === 0
    ? null
    : element(
        "form",
        {
          class: "filters",
          role: "search",
          onsubmit: (/** @type {SubmitEvent} */ event) => {
            event.preventDefault()
            const data = new FormData(/** @type {HTMLFormElement} */ (event.target))
            const given = filters
              .map((filter) => [filter.name, textOf(data, filter.name)])
              .filter(([, value]) => value !== "")
            location.hash = `#/${name}?${new URLSearchParams(given)}`
          }
        },
        ...filters.map(({ label, name: field, options }) => {
          const value = query[field] ?? ""
          return element(
            "label",
            {},
            label,
            options === undefined
              ? element("input", { name: field, value, autocomplete: "off" })
              : element(
                  "select",
                  { name: field },
                  ...options.map((option) =>
                    element("option", { value: option, selected: option === value }, option === "" ? "any" : option)
                  )
                )
          )
        }),
        element("button", { class: "primary" }, "Search")
      )

/** @param {List} list @param {Readonly<Record<string, string>>} query @param {"h1" | "h2"} heading */
const listOf = async (list, query, heading) => {
  const { columns, hands = [], name, path, rowHands, rows = ({ items }) => items, title } = list
  const data = await read(path, { ...list.query, ...query })
  const all =
    rowHands === undefined
      ? columns
      : [...columns, { title: "Hands", of: (/** @type {Row} */ row) => buttons(rowHands(row), afterChange) }]
  const next = data.nextCursor ?? null
  return [
    element(heading, {}, title),
    filtersOf(list, query),
    table(title, all, rows(data)),
    next === null || heading === "h2"
      ? null
      : element(
          "p",
          {},
          element("a", { href: `#/${name}?${new URLSearchParams({ ...query, cursor: next })}` }, "Older")
        ),
    hands.length === 0 ? null : buttons(hands, afterChange)
  ]
}

/** @param {import("./lists.js").Detail} detail @param {string} id */
const detailOf = async (detail, id) => {
  const { timeline, ...record } = await read(detail.path(encodeURIComponent(id)))
  const lists = detail.lists?.(record, id) ?? []
  const below = await Promise.all(lists.map((list) => listOf(list, {}, "h2")))
  return [
    element("h1", {}, detail.title(id)),
    element("div", { class: "card" }, fields(record)),
    buttons(detail.hands(record, id), afterChange),
    ...(timeline === undefined ? [] : [element("h2", {}, "Timeline"), table("Timeline", TIMELINE, timeline)]),
    ...below.flat()
  ]
}

const pageOf = () => {
  const { id, name, query } = address()
  const detail = DETAILS[name]
  if (detail !== undefined && id !== "") return detailOf(detail, id)
  const list = LISTS.find((candidate) => candidate.name === name)
  return list === undefined ? overview() : listOf(list, query, "h1")
}

const signIn = () => {
  token.forget()
  header.hidden = true
  const input = element("input", { name: "token", type: "password", required: true, autocomplete: "current-password" })
  content.replaceChildren(
    element(
      "form",
      {
        class: "sign-in",
        onsubmit: (/** @type {SubmitEvent} */ event) => {
          event.preventDefault()
          token.set(input.value.trim())
          void show()
        }
      },
      element("h1", {}, "AgentOS console"),
      element("label", {}, "Operator's token", input),
      element("button", { class: "primary" }, "Sign in")
    )
  )
}

let shown = 0

/** Shows the page that the address names. A page that was asked for later wins. */
const show = async () => {
  if (token.get() === null) return signIn()
  const turn = ++shown
  header.hidden = false
  try {
    const { name } = address()
    for (const link of header.querySelectorAll("nav a"))
      if (link.getAttribute("href") === `#/${name}`) link.setAttribute("aria-current", "page")
      else link.removeAttribute("aria-current")
    const children = await pageOf()
    if (turn !== shown || isConfirming()) return
    content.replaceChildren(...children.filter((child) => child !== null))
  } catch (error) {
    if (turn !== shown) return
    if (error instanceof Refusal && error.status === 401) signIn()
    else content.replaceChildren(element("h1", {}, "This page can't be shown"))
    tell(error instanceof Error ? error.message : String(error))
  }
}

/** Whether the person reads, types or works on something that new content would take away. */
const isBusy = () =>
  isConfirming() ||
  content.querySelector("[data-once]") !== null ||
  (content !== document.activeElement && content.contains(document.activeElement))

one("nav").append(
  ...[{ name: "", title: "Overview" }, ...LISTS].map(({ name, title }) => element("a", { href: `#/${name}` }, title))
)
one("header button").addEventListener("click", signIn)
addEventListener("hashchange", () => {
  tell("")
  void show().then(() => content.focus())
})
setInterval(() => {
  if (isLive.checked && !document.hidden && token.get() !== null && !isBusy()) void show()
}, REFRESH_MILLIS)
void show()
