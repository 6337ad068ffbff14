import { fieldOf } from "./Labels.ts"

/** Announcements that the answers are inside the quotation. A word too many keeps a quotation; one too few loses answers. */
const ANNOUNCED = new RegExp(
  [
    String.raw`\b(?:in-?line|below|underneath|beneath|interspersed|embedded|in (?:red|blue|green|bold|caps|capitals|italics|purple|orange|colou?r|yellow)|in between|in the text|in your (?:e-?mail|mail|message|text)|within (?:your|the) (?:e-?mail|mail|message|text)|highlighted|marked|inserted|preceded by|prefixed|next to your)\b`,
    String.raw`\b(?:unten|weiter unten|im text|in rot|in blau|in gr(?:ü|ue)n|rot|blau|fett|darunter|untenstehend|zwischen (?:den|deinen|ihren) (?:zeilen|fragen)|eingef(?:ü|ue)gt|direkt (?:in|bei)|in deine[rm]? mail|in ihrer? mail)\b`,
    String.raw`\b(?:my|see|our) (?:answers?|comments?|repl(?:y|ies)|responses?|remarks?|notes)\b|meine (?:antworten|anmerkungen|kommentare)|mes (?:réponses|commentaires|remarques)|mis (?:respuestas|comentarios)|(?:minhas|as) respostas|meus comentários|le mie risposte|i miei commenti|mijn (?:antwoorden|opmerkingen)|min[ae] svar|mina svar|vastaukse(?:ni|mme)|(?:moje|moja) (?:odpowiedzi|odpovědi|komentarze|odgovori)|мои (?:ответы|комментарии)|мої відповіді|yanıtlarım|cevaplarım|私の回答|回答は|我的(?:回答|回复|回覆|答复)|답변은|إجاباتي|ردودي|התשובות שלי|câu trả lời`,
    String.raw`ci-dessous|ci-après|plus bas|en (?:rouge|bleu|vert|gras)|dans (?:le|votre|ton) (?:texte|corps|message|mail|courriel)|en dessous`,
    String.raw`\b(?:abajo|debajo|a continuaci|en (?:rojo|azul|verde|negrita)|entre (?:l[ií]neas|linhas)|en el (?:texto|cuerpo)|en tu (?:correo|mensaje)|abaixo|a seguir|em (?:vermelho|azul|verde|negrito)|no texto|no corpo|sotto|di seguito|in (?:rosso|blu|grassetto)|nel (?:testo|corpo)|nella tua mail|qui sotto)\b`,
    String.raw`\b(?:hieronder|onderstaand|onderaan|in het (?:rood|blauw|groen)|tussen de (?:regels|tekst)|in de tekst|in je mail)\b`,
    String.raw`nedenfor|nedenunder|herunder|i (?:rødt|blåt|blått|teksten|grønt|fed)|med (?:rødt|rød|blåt)|nedan|i (?:rött|texten|blått)|med rött|(?:ovat|on|katso) alla|alla (?:punaisella|olev)|alapuolella|punaisella|tekstin seassa|sinisellä`,
    String.raw`poniżej|niżej|w (?:treści|tekście)|na (?:czerwono|niebiesko)|níže|nižšie|červen|modře|modro|v textu|v texte|pod (?:otázk|jednotliv)`,
    String.raw`ниже|красным|синим|в тексте|внутри|по тексту|по-долу|червен|ispod|crven|нижче|червоним|синім|у тексті|в тексті`,
    String.raw`aşağı|kırmızı|mavi|metnin içinde|satır aral|παρακάτω|κόκκιν|μπλε|στο κείμενο|lentebb|itt lent|alább|pirossal|kékkel|lejjebb|a szövegben|mai jos|roșu|albastru|în text`,
    String.raw`以下|下記|下に|赤字|青字|赤で|青で|インライン|文中|本文中|行内|如下|下面|下方|红色|紅色|红字|紅字|蓝色|藍色|文中|见下|見下|아래|빨간|파란|인라인|본문`,
    String.raw`أدناه|بالأحمر|بالأزرق|ضمن النص|داخل النص|להלן|למטה|באדום|בכחול|בגוף|מטה|dưới|màu đỏ|màu xanh|di bawah|merah|biru|ข้างล่าง|ด้านล่าง|สีแดง`
  ].join("|"),
  "iu"
)
/** Lines that an author marked as answers: "A1: yes", "==> yes", "[Ada] yes", "## yes". */
const ANSWER =
  /^(?:(?:a|ans|answer|antwort|antw|r|rép|réponse|resp|respuesta|resposta|risposta|antwoord|svar|vastaus|odp|odpověď|ответ|відповідь|yanıt|cevap|απάντηση|válasz|răspuns|回答|答|답변|답|جواب|תשובה|trả lời)\s?\p{Nd}{0,2}\s?[:.)：]|\[(?!external|extern|image|cid|ext\b|bild|https?|signature)\p{L}[\p{L}\p{M}.' -]{0,30}\]\s?[:-]?\s?\S|(?:[-=]{1,4}>|→|>>|#{2,4}|@{2,4}|\*{3,5}|%{2,4}|~{2,4}|<{2,4})\s?\p{L}|\p{Lu}{2,3}>\s?\S)/iu
const LINE_CHARACTERS = 300

/** Whether the words of an author say that there are answers inside the quotation below them. */
export const announcesAnswers = (own: ReadonlyArray<string>): boolean =>
  own.some((line) => ANNOUNCED.test(line.slice(0, LINE_CHARACTERS)))

/** Whether a quotation without quote marks has lines that look like answers. Its first line is part of its header. */
export const hasAnswers = (quoted: ReadonlyArray<string>): boolean =>
  quoted.some((line, at) => at > 0 && ANSWER.test(line.slice(0, LINE_CHARACTERS)) && !isInHeader(quoted, at))

/** Whether a line is a field between fields: "A: Bob" is the recipient in Italian. */
const isInHeader = (lines: ReadonlyArray<string>, at: number): boolean =>
  fieldOf(lines[at]!) !== undefined && [at - 1, at + 1].some((next) => fieldOf(lines[next] ?? "") !== undefined)
