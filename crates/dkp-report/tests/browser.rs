//! Pages as a browser draws them: every chart is there, nothing overlaps, nothing is wider than the screen.
//!
//! Needs Chromium, by the variable `CHROMIUM` or under its usual names. Without it these tests are skipped, unless
//! `DKP_REQUIRE` is set.

mod samples;

use dkp_report::chart::{Axis, Content, Grid, HeatMap, Ink, Layer, LineChart, Mark, Panel, Series, Spacing};
use dkp_report::{Report, html};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Widths of a small phone, a phone and a desk.
const WIDTHS: [u32; 3] = [360, 390, 1200];
/// A page is drawn in seconds; a browser that hangs is stopped.
const PATIENCE: Duration = Duration::from_secs(60);
/// Text that is smaller, in CSS pixels, cannot be read on a phone.
const SMALLEST_TEXT: f64 = 10.0;

/// Measures the page in a frame of the given width, and writes one line per finding into the outer page.
const MEASURE: &str = r#"
const frame = document.querySelector('iframe'), inner = frame.contentDocument, lines = [];
const root = inner.documentElement, view = frame.contentWindow;
frame.style.height = root.scrollHeight + 'px';
lines.push(`page ${root.scrollWidth} ${view.innerWidth} ${root.scrollHeight}`);
inner.querySelectorAll('svg[role=img]').forEach((svg, i) => {
  const box = svg.getBoundingClientRect();
  const marks = [...svg.querySelectorAll('.mark')].map(m => m.getBBox());
  const drawn = marks.filter(b => b.width + b.height > 0).length;
  const scale = box.width / svg.viewBox.baseVal.width;
  const texts = [...svg.querySelectorAll('text')];
  const boxes = texts.map(t => t.getBoundingClientRect());
  const size = Math.min(99, ...texts.map(t => parseFloat(view.getComputedStyle(t).fontSize) * scale));
  lines.push(`chart ${i} ${box.x} ${box.y} ${box.width} ${box.height} ${marks.length} ${drawn} ${size}`);
  boxes.forEach((a, j) => {
    const name = `${i} "${texts[j].textContent}"`;
    if (a.left < box.left - 1 || a.right > box.right + 1 || a.top < box.top - 1 || a.bottom > box.bottom + 1)
      lines.push(`overflow ${name}`);
    boxes.slice(j + 1).forEach((b, k) => {
      // boxes of text are higher than its letters
      const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (wide > 0.5 && high > 4) lines.push(`overlap ${name} "${texts[j + 1 + k].textContent}"`);
    });
  });
});
inner.querySelectorAll('h1,h2,h3,h4,p,td,th,li,dd,figcaption').forEach(e => {
  if (e.scrollWidth > e.clientWidth + 1) lines.push(`overflow ${e.tagName} "${e.textContent}"`);
});
const result = document.createElement('pre');
result.id = 'result';
result.textContent = lines.join('\n');
document.body.append(result);
"#;

/// Chromium; `None`, with a message, if tests may do without it.
fn chromium() -> Option<PathBuf> {
    let asked = std::env::var_os("CHROMIUM").map(PathBuf::from);
    let folders: Vec<PathBuf> = std::env::var_os("PATH").iter().flat_map(std::env::split_paths).collect();
    let usual = ["chromium", "chromium-browser", "google-chrome"];
    let found = usual.iter().flat_map(|name| folders.iter().map(move |f| f.join(name))).find(|p| p.is_file());
    let browser = asked.or(found);
    if browser.is_none() {
        let required = std::env::var("DKP_REQUIRE").is_ok_and(|v| !v.is_empty());
        assert!(!required, "DKP_REQUIRE is set, but there is no Chromium: install it or set CHROMIUM");
        eprintln!("skipped: no Chromium found; install it or set CHROMIUM");
    }
    browser
}

/// Runs the browser in a folder of its own and returns what it prints.
fn run(browser: &Path, folder: &Path, arguments: &[String]) -> String {
    let output = folder.join("output");
    let profile = format!("--user-data-dir={}", folder.join("profile").display());
    let fixed = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run", &profile];
    let mut child = Command::new(browser)
        .args(fixed)
        .args(arguments)
        .stdout(std::fs::File::create(&output).unwrap())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > PATIENCE {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("the browser was still busy after {PATIENCE:?}");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    std::fs::read_to_string(output).unwrap()
}

/// The page in a frame: windows have a least width, frames have none. The copy may run scripts, the page itself not.
fn framed(page: &str, width: u32, script: &str) -> String {
    let policy = page.find("<meta http-equiv=\"Content-Security-Policy\"").unwrap();
    let end = policy + page[policy..].find('\n').unwrap();
    let copy = format!("{}{}", &page[..policy], &page[end..]).replace('&', "&amp;").replace('"', "&quot;");
    format!(
        "<!doctype html><meta charset=\"utf-8\"><style>body{{margin:0}}iframe{{border:0;display:block;width:{width}px}}\
         pre{{display:none}}</style><body><iframe srcdoc=\"{copy}\"></iframe><script>onload = () => {{{script}}}</script>"
    )
}

fn numbers(line: &str) -> Vec<f64> {
    line.split(' ').filter_map(|word| word.parse().ok()).collect()
}

/// Whether an area of a picture (left, top, width, height) holds colour: marks do, text and grid lines are grey.
fn has_colour(picture: &(usize, usize, Vec<u8>), area: &[f64]) -> bool {
    let (width, height, pixels) = picture;
    let (left, top) = (area[0].max(0.0) as usize, area[1].max(0.0) as usize);
    let (right, bottom) = (((area[0] + area[2]) as usize).min(*width), ((area[1] + area[3]) as usize).min(*height));
    let coloured = |&(x, y): &(usize, usize)| {
        let pixel = &pixels[3 * (y * width + x)..3 * (y * width + x) + 3];
        pixel.iter().max().unwrap() - pixel.iter().min().unwrap() > 40
    };
    let cells = (top..bottom).flat_map(|y| (left..right).map(move |x| (x, y)));
    cells.filter(coloured).count() * 1000 > (right - left) * (bottom - top)
}

fn screenshot(browser: &Path, folder: &Path, page: &Path, width: u32, height: u32) -> (usize, usize, Vec<u8>) {
    let file = folder.join("picture.png");
    let arguments = [format!("--screenshot={}", file.display()), format!("--window-size={width},{height}")];
    run(browser, folder, &[&arguments[..], &[format!("file://{}", page.display())]].concat());
    let reader = std::io::BufReader::new(std::fs::File::open(file).unwrap());
    let mut reader = png::Decoder::new(reader).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!((info.color_type, info.bit_depth), (png::ColorType::Rgb, png::BitDepth::Eight));
    (info.width as usize, info.height as usize, pixels)
}

/// An empty folder for a test.
fn empty_folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// What the browser finds in a page of a given width, which it keeps in a file.
fn measured(browser: &Path, folder: &Path, file: &Path, page: &str, width: u32) -> Vec<String> {
    std::fs::write(file, framed(page, width, MEASURE)).unwrap();
    let arguments = ["--dump-dom".to_string(), "--window-size=1400,1000".into(), format!("file://{}", file.display())];
    let dom = run(browser, folder, &arguments);
    let start = dom.find("<pre id=\"result\">").expect("the script has measured the page") + 17;
    dom[start..].split("</pre>").next().unwrap().lines().map(str::to_string).collect()
}

/// Draws a report at all widths and checks what is seen.
fn check(name: &str, report: &Report, charts: usize) {
    let Some(browser) = chromium() else { return };
    let folder = empty_folder(name);
    let page = html(report);
    for width in WIDTHS {
        let file = folder.join(format!("{width}.html"));
        let lines = measured(&browser, &folder, &file, &page, width);
        let faults: Vec<_> = lines.iter().filter(|l| l.starts_with("over")).collect();
        assert!(faults.is_empty(), "{name} at {width}: {faults:#?}");
        let size = numbers(&lines[0]);
        assert!(size[0] <= size[1], "{name} at {width} is {} wide", size[0]);
        let measured: Vec<Vec<f64>> = lines.iter().filter(|l| l.starts_with("chart")).map(|l| numbers(l)).collect();
        assert_eq!(measured.len(), charts, "{name} at {width}");
        let picture = screenshot(&browser, &folder, &file, width.max(500), size[2] as u32);
        for chart in &measured {
            assert!(chart[5] > 0.0 && chart[5] == chart[6], "{name} at {width}: marks of chart {chart:?}");
            assert!(chart[7] >= SMALLEST_TEXT, "{name} at {width}: text of chart {chart:?}");
            assert!(has_colour(&picture, &chart[1..5]), "{name} at {width}: chart {chart:?} is blank");
        }
    }
}

#[test]
fn a_regression_is_drawn() {
    check("regression", &samples::regression(103), 22);
}

#[test]
fn a_large_regression_is_drawn() {
    check("large", &samples::regression(10_000), 22);
}

#[test]
fn a_classification_is_drawn() {
    let labels = ["float-processed window", "window", "container", "tableware", "headlamp", "vehicle"];
    check("classification", &samples::classification(643, &labels), 21);
}

#[test]
fn long_names_and_wild_numbers_fit() {
    check("awkward", &samples::awkward(), 21);
}

#[test]
fn nothing_is_drawn_of_nothing() {
    check("nothing", &Report::default(), 0);
}

#[test]
fn single_pictures_are_drawn() {
    let Some(browser) = chromium() else { return };
    let folder = empty_folder("pictures");
    let line = Series { name: "f <&> g".into(), points: (0..100).map(|i| (f64::from(i), f64::from(i % 9))).collect() };
    let chart = LineChart { title: "A <b> & c".into(), series: vec![line], ..LineChart::default() };
    let values = (0..16).map(f64::from).collect();
    let map = HeatMap { title: "Values".into(), rows: 4, columns: 4, values, ..HeatMap::default() };
    for (name, svg) in [("line.svg", chart.svg()), ("map.svg", map.svg()), ("grid.svg", grid().svg())] {
        let file = folder.join(name);
        std::fs::write(&file, svg).unwrap();
        let dom = run(&browser, &folder, &["--dump-dom".to_string(), format!("file://{}", file.display())]);
        assert!(dom.contains("</svg>") && !dom.contains("parsererror"), "{dom}");
        let picture = screenshot(&browser, &folder, &file, 600, 500);
        assert!(has_colour(&picture, &[0.0, 0.0, 400.0, 400.0]), "{name}");
    }
}

/// Three columns of bars, a line and a matrix, with text wherever there can be any.
fn grid() -> Grid {
    let axis = |label: &str| Axis::new(label).spaced(Spacing::Log);
    let layer = |name: &str, ink, mark| Layer { name: name.into(), ink: Ink::Series(ink), mark };
    let panel = |i: usize| {
        let edge = |bin: usize| 10_f64.powf(-8.0 + 0.1 * bin as f64);
        let bars = (0..100).map(|bin| (edge(bin), edge(bin + 1), 1.0 + ((bin * (i + 3)) % 17) as f64)).collect();
        let line = Mark::Line { points: vec![(1e-8, 1.0), (1e2, 1e2)], width: 1.6 };
        let marks = vec![layer("bars of some height", 0, Mark::Bars { bars }), layer("a line", 1, line)];
        let matrix = Content::Matrix { rows: 2, columns: 2, values: vec![-1.0, 0.2, 0.3, 1.0] };
        let content = if i.is_multiple_of(3) { matrix } else { Content::Marks(marks) };
        Panel { title: format!("panel {i} of a grid that has six"), content }
    };
    Grid {
        x: axis("what is across").over(1e-9, 1e3),
        y: axis("what is up").over(0.1, 1e3),
        value: Axis::new("what colours mean"),
        columns: 3,
        panels: (0..6).map(panel).collect(),
        headings: vec![("a narrow heading".into(), 1), ("a heading over the other two columns".into(), 2)],
        rows: vec!["the first row\nin two lines".into(), "the second".into()],
        ..Grid::default()
    }
}

#[test]
fn nothing_overlaps_in_a_grid() {
    let Some(browser) = chromium() else { return };
    let folder = empty_folder("grid");
    // a page has a policy, which the copy leaves out
    let page = format!("<!doctype html><meta http-equiv=\"Content-Security-Policy\">\n{}", grid().svg());
    let lines = measured(&browser, &folder, &folder.join("grid.html"), &page, 1200);
    let faults: Vec<_> = lines.iter().filter(|l| l.starts_with("over")).collect();
    assert!(faults.is_empty(), "{faults:#?}");
    let chart = numbers(&lines[1]);
    assert!(chart[5] > 0.0 && chart[5] == chart[6], "{lines:?}");
}
