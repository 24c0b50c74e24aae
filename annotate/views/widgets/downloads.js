// Takes the chart of its container away as a file. The chart is drawn as SVG by the page; the file is what is on screen.

const SCALE = 3; // pixels of the PNG to one of the screen: sharp in print at a column's width
const KEEP = 10_000; // ms that a file is kept for a browser that is slow to fetch it

// Names of systems may have such characters, with which no program opens the file.
const NOT_XML = /[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

export default function mountFiles({ data, parentElement }) {
  const buttons = parentElement.querySelector("[data-part=files]");
  const said = parentElement.querySelector("[data-part=said]");
  const react = (event) => {
    const kind = event.target.closest("[data-file]")?.dataset.file;
    if (!kind) return;
    said.textContent = "";
    take(parentElement, data, kind).catch(() => {
      said.textContent = "The chart is not drawn yet: try again.";
    });
  };
  for (const button of buttons.querySelectorAll("[data-file]")) {
    button.setAttribute("aria-label", `Save as ${button.textContent}: ${data.alt}`);
  }
  buttons.addEventListener("click", react);
  return () => buttons.removeEventListener("click", react);
}

async function take(parentElement, { name, alt, box }, kind) {
  const host = parentElement.getRootNode().host ?? parentElement;
  const svg = standalone(host.closest(`.st-key-${box}`).querySelector(".stVegaLiteChart svg"), alt);
  const written = new XMLSerializer().serializeToString(svg).replace(NOT_XML, "");
  const text = new Blob([written], { type: "image/svg+xml" });
  offer(kind === "svg" ? text : await painted(svg, text), `${name}.${kind}`);
}

/** The chart as a picture of its own: with its name space, its size, its description, and the page's background. */
function standalone(drawn, alt) {
  const { width, height } = drawn.getBoundingClientRect();
  const svg = drawn.cloneNode(true);
  svg.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  svg.setAttribute("width", width);
  svg.setAttribute("height", height);
  svg.removeAttribute("style");
  svg.setAttribute("color", getComputedStyle(drawn).color);
  const title = document.createElementNS("http://www.w3.org/2000/svg", "title");
  title.textContent = alt;
  const ground = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  const app = drawn.closest(".stApp");
  const colour = app ? getComputedStyle(app).backgroundColor : "white";
  for (const [key, value] of Object.entries({ width: "100%", height: "100%", fill: colour })) {
    ground.setAttribute(key, value);
  }
  svg.prepend(title, ground);
  return svg;
}

async function painted(svg, text) {
  const address = URL.createObjectURL(text);
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = Math.round(svg.getAttribute("width") * SCALE);
    canvas.height = Math.round(svg.getAttribute("height") * SCALE);
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((done, failed) => {
      canvas.toBlob((file) => (file ? done(file) : failed(new Error("no picture"))), "image/png");
    });
  } finally {
    URL.revokeObjectURL(address);
  }
}

function offer(file, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), KEEP);
}
