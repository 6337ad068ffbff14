/** @typedef {Node | string | number | null | undefined | ReadonlyArray<Node | string | number | null | undefined>} Child */

/**
 * Makes an element. A property whose name begins with `on` is a listener; true sets an attribute without a value, and false,
 * null or undefined leaves it out.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Readonly<Record<string, string | number | boolean | null | undefined | ((event: any) => void)>>} [properties]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export const element = (tag, properties = {}, ...children) => {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue
    if (typeof value === "function") made.addEventListener(name.slice(2), value)
    else made.setAttribute(name, value === true ? "" : `${value}`)
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined) made.append(typeof child === "number" ? `${child}` : child)
  }
  return made
}

/** The text that a person typed into a field. @param {FormData} data @param {string} name */
export const textOf = (data, name) => {
  const value = data.get(name)
  return typeof value === "string" ? value.trim() : ""
}

/** The element that the page has for a selector. @param {string} selector */
export const one = (selector) => {
  const found = document.querySelector(selector)
  if (!(found instanceof HTMLElement)) throw new Error(`no ${selector}`)
  return found
}

/** Tells the person, and their screen reader, what happened. @param {string} text */
export const tell = (text) => {
  one("#status").textContent = text
}

const TIME = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" })

/** A moment in ISO 8601, in the reader's time zone. @param {string} moment */
export const time = (moment) => element("time", { datetime: moment, title: moment }, TIME.format(new Date(moment)))

const MOMENT = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/

/** Shows any value of an answer. @param {unknown} value @returns {Child} */
export const shown = (value) => {
  if (value === null || value === undefined) return "–"
  if (typeof value === "string") return MOMENT.test(value) && !Number.isNaN(Date.parse(value)) ? time(value) : value
  if (typeof value === "number" || typeof value === "boolean") return String(value)
  if (Array.isArray(value)) return value.length === 0 ? "none" : element("div", {}, ...value.map(shown))
  return fields(/** @type {Record<string, unknown>} */ (value))
}

/** "nextAttempt" as "Next attempt". @param {string} name */
export const titleOf = (name) => {
  const words = name.replace(/[_-]/g, " ").replace(/([a-z])([A-Z])/g, (_, a, b) => `${a} ${b.toLowerCase()}`)
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** The fields of a record. @param {Readonly<Record<string, unknown>>} record */
export const fields = (record) =>
  element(
    "dl",
    { class: "fields" },
    ...Object.entries(record).flatMap(([name, value]) => [
      element("dt", {}, titleOf(name)),
      element("dd", {}, shown(value))
    ])
  )

/**
 * @template Row
 * @typedef {{ readonly title: string, readonly of: (row: Row) => Child, readonly isNumber?: boolean }} Column
 */

/**
 * A table, which a narrow screen shows as a list of cards.
 * @template Row
 * @param {string} label
 * @param {ReadonlyArray<Column<Row>>} columns
 * @param {ReadonlyArray<Row>} rows
 */
export const table = (label, columns, rows) =>
  rows.length === 0
    ? element("p", {}, "Nothing.")
    : element(
        "table",
        { "aria-label": label },
        element("thead", {}, element("tr", {}, ...columns.map(({ title }) => element("th", { scope: "col" }, title)))),
        element(
          "tbody",
          {},
          ...rows.map((row) =>
            element(
              "tr",
              {},
              ...columns.map(({ isNumber, of, title }) =>
                element("td", { "data-title": title, class: isNumber && "number" }, element("span", {}, of(row)))
              )
            )
          )
        )
      )
