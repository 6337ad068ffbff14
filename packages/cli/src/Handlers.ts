import type { CommandName, CommandOf } from "./command/Commands.ts"
import type { HandlerModule } from "./command/Handler.ts"

type Handlers = { readonly [Name in CommandName]: () => Promise<HandlerModule<CommandOf<Name>>> }

/** The handler of each command, loaded when the command runs. */
export const HANDLERS: Handlers = {
  "wallet create": () => import("./handler/WalletCreate.ts"),
  "wallet import": () => import("./handler/WalletImport.ts"),
  "wallet address": () => import("./handler/WalletAddress.ts"),
  "wallet balance": () => import("./handler/WalletBalance.ts"),
  login: () => import("./handler/Login.ts"),
  logout: () => import("./handler/Logout.ts"),
  whoami: () => import("./handler/Whoami.ts"),
  "services list": () => import("./handler/ServicesList.ts"),
  "services show": () => import("./handler/ServicesShow.ts"),
  quote: () => import("./handler/Quote.ts"),
  "mailbox create": () => import("./handler/MailboxCreate.ts"),
  "mailbox update": () => import("./handler/MailboxUpdate.ts"),
  "mailbox delete": () => import("./handler/MailboxDelete.ts"),
  "mailbox list": () => import("./handler/MailboxList.ts"),
  "mail send": () => import("./handler/MailSend.ts"),
  "mail list": () => import("./handler/MailList.ts"),
  "mail read": () => import("./handler/MailRead.ts"),
  "mail wait": () => import("./handler/MailWait.ts"),
  "number buy": () => import("./handler/NumberBuy.ts"),
  "number renew": () => import("./handler/NumberRenew.ts"),
  "number add-minutes": () => import("./handler/NumberAddMinutes.ts"),
  "number release": () => import("./handler/NumberRelease.ts"),
  "number list": () => import("./handler/NumberList.ts"),
  "call start": () => import("./handler/CallStart.ts"),
  "call extend": () => import("./handler/CallExtend.ts"),
  "call show": () => import("./handler/CallShow.ts"),
  "call transcript": () => import("./handler/CallTranscript.ts"),
  "events tail": () => import("./handler/EventsTail.ts"),
  "events list": () => import("./handler/EventsList.ts"),
  "events get": () => import("./handler/EventsGet.ts"),
  "events ack": () => import("./handler/EventsAck.ts"),
  "events ack-all": () => import("./handler/EventsAckAll.ts"),
  "payments list": () => import("./handler/PaymentsList.ts"),
  "payments show": () => import("./handler/PaymentsShow.ts"),
  "payments resume": () => import("./handler/PaymentsResume.ts"),
  "budget set": () => import("./handler/BudgetSet.ts"),
  "budget show": () => import("./handler/BudgetShow.ts"),
  dev: () => import("./handler/Dev.ts"),
  doctor: () => import("./handler/Doctor.ts"),
  "config list": () => import("./handler/ConfigList.ts"),
  "config get": () => import("./handler/ConfigGet.ts"),
  "config set": () => import("./handler/ConfigSet.ts"),
  "config path": () => import("./handler/ConfigPath.ts"),
  completion: () => import("./handler/Completion.ts"),
  api: () => import("./handler/Api.ts"),
  schema: () => import("./handler/Schema.ts"),
  help: () => import("./handler/Help.ts")
}

/** The handler of any command of the table, found by its words. */
export const loadHandler = (name: string): Promise<HandlerModule<never>> => HANDLERS[name as CommandName]()
