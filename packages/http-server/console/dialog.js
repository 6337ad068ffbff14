import { change, Refusal } from "./api.js"
import { element, fields, tell, textOf } from "./dom.js"

/**
 * @typedef {object} Field
 * @property {string} name of the field in the body
 * @property {string} label
 * @property {ReadonlyArray<string>} [options] a choice, instead of a text
 * @property {"text" | "number"} [type]
 * @property {boolean} [isOptional]
 */

/**
 * A change that an operator may make.
 * @typedef {object} Hand
 * @property {string} label
 * @property {string} path below /internal
 * @property {string} consequence its effect, in a sentence
 * @property {Readonly<Record<string, unknown>>} [body]
 * @property {ReadonlyArray<Field>} [fields] that complete the body
 * @property {string} [typed] the text that the person must type to confirm a change that nothing undoes
 * @property {() => Promise<Readonly<Record<string, unknown>>>} [preview] reads the changes that it would make
 */

/** @param {FormData} data @param {ReadonlyArray<Field>} inputs */
const bodyOf = (data, inputs) =>
  Object.fromEntries(
    inputs.flatMap(({ name, type }) => {
      const value = textOf(data, name)
      return value === "" ? [] : [[name, type === "number" ? Number(value) : value]]
    })
  )

/** @param {Field} field */
const inputOf = ({ isOptional, label, name, options, type = "text" }) =>
  element(
    "label",
    {},
    label,
    options === undefined
      ? element("input", { name, type, required: isOptional !== true, autocomplete: "off" })
      : element("select", { name }, ...options.map((option) => element("option", {}, option)))
  )

/** Whether a dialog is open, behind which nothing may change. */
export const isConfirming = () => document.querySelector("dialog[open]") !== null

/**
 * Asks the person to confirm a change, makes it, and tells the result.
 * @param {Hand} hand
 * @param {(answer: any) => void} done after a success
 */
const confirm = ({ body = {}, consequence, fields: inputs = [], label, path, preview, typed }, done) => {
  const problem = element("p", { class: "bad", role: "alert" })
  const shown = element("div", {})
  const submit = element("button", { class: typed === undefined ? "primary" : "danger" }, label)
  const apply = async () => {
    const data = new FormData(form)
    if (typed !== undefined && data.get("typed") !== typed) {
      problem.textContent = `Type ${typed} to confirm.`
      return
    }
    submit.disabled = true
    try {
      const answer = await change(path, { ...body, ...bodyOf(data, inputs) }, textOf(data, "operator-reason"))
      dialog.close()
      tell(`${label}: done.`)
      done(answer)
    } catch (error) {
      if (error instanceof Refusal) {
        problem.textContent = error.message
        submit.disabled = false
      } else {
        problem.textContent =
          "The server did not answer, and may have made the change. Close this, and read the page again."
      }
    }
  }
  const title = element("h2", { id: "dialog-title" }, label)
  const cancel = element("button", { type: "button", onclick: () => dialog.close() }, "Cancel")
  const form = element(
    "form",
    {
      onsubmit: (event) => {
        event.preventDefault()
        void apply()
      }
    },
    title,
    element("p", {}, consequence),
    shown,
    ...inputs.map(inputOf),
    typed === undefined
      ? null
      : element("label", {}, `Type ${typed} to confirm`, element("input", { name: "typed", autocomplete: "off" })),
    element("label", {}, "Reason, for the audit", element("input", { name: "operator-reason", maxlength: 200 })),
    problem,
    element("div", { class: "hands" }, submit, cancel)
  )
  const dialog = element("dialog", { "aria-labelledby": "dialog-title", onclose: () => dialog.remove() }, form)
  document.body.append(dialog)
  dialog.showModal()
  preview?.().then(
    (report) => shown.append(fields(report)),
    (error) => (problem.textContent = error.message)
  )
}

/**
 * The buttons of these changes.
 * @param {ReadonlyArray<Hand>} hands
 * @param {(answer: any) => void} done
 */
export const buttons = (hands, done) =>
  element(
    "div",
    { class: "hands" },
    ...hands.map((hand) =>
      element(
        "button",
        { type: "button", class: hand.typed === undefined ? undefined : "danger", onclick: () => confirm(hand, done) },
        hand.label
      )
    )
  )
