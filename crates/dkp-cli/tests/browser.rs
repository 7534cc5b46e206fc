//! The report of a real model in a real browser, at two widths: every chart is drawn, and nothing is wider than the page.

mod support;

use std::process::Command;
use support::{Place, SMALL, flats};

/// Chromium, or none, which is said; a failure where DKP_REQUIRE says so.
fn chromium() -> Option<String> {
    let named = std::env::var("CHROMIUM").ok();
    let candidates = named.into_iter().chain(["chromium", "chromium-browser", "google-chrome"].map(str::to_string));
    let works = |c: &String| Command::new(c).arg("--version").output().is_ok_and(|o| o.status.success());
    let found = candidates.into_iter().find(works);
    let required = std::env::var("DKP_REQUIRE").is_ok_and(|v| !v.is_empty());
    assert!(found.is_some() || !required, "DKP_REQUIRE is set, but there is no Chromium");
    if found.is_none() {
        println!("skipped: there is no Chromium (CHROMIUM names one)");
    }
    found
}

/// For every chart, how many of its marks have an extent; and whether the page scrolls sideways.
const SCRIPT: &str = r#"<script>
const charts = [...document.querySelectorAll("svg[role=img]")];
const drawn = charts.map(c => [...c.querySelectorAll("path,circle,rect,line,polyline,polygon,image")]
    .filter(m => { const b = m.getBoundingClientRect(); return b.width + b.height > 0; }).length);
const wide = document.documentElement.scrollWidth > window.innerWidth;
document.title = JSON.stringify({ charts: charts.length, least: Math.min(...drawn), wide });
</script>"#;

#[test]
fn the_report_of_a_real_model_is_drawn() {
    let Some(chromium) = chromium() else { return };
    let place = Place::new();
    place.write("flats.csv", flats());
    for (target, ignored) in [("price", "id,sold,kind"), ("kind", "id,sold,price")] {
        let flags = ["train", "flats.csv", "--target", target, "--ignore", ignored, "--quiet", "--out", "m.dkp"];
        place.done(&[&flags[..], &SMALL].concat());
        place.done(&["report", "m.dkp", "--quiet"]);
        check(&chromium, &place, "m.html", 7);
        // a name that is as long as names get
        let name = "a_model_with_a_name_that_is_longer_than_any_column_of_a_table_on_a_phone.dkp";
        place.write(name, place.read("m.dkp"));
        place.done(&["compare", "m.dkp", name, "m.dkp", "m.dkp", "m.dkp", "flats.csv", "--report", "c.html"]);
        check(&chromium, &place, "c.html", 3);
    }
}

/// A page at two widths has so many charts at least, each drawn.
fn check(chromium: &str, place: &Place, name: &str, charts: u64) {
    // the page forbids scripts: the measuring one is allowed in a copy
    let page = place.text(name).replace("http-equiv=\"Content-Security-Policy\"", "name=\"policy\"");
    place.write("measured.html", page.replace("</body>", &format!("{SCRIPT}</body>")));
    for width in [500, 1200] {
        let output = Command::new(chromium)
            .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--dump-dom"])
            .arg(format!("--window-size={width},900"))
            .arg(format!("file://{}", place.file("measured.html").display()))
            .output()
            .unwrap();
        let dom = String::from_utf8_lossy(&output.stdout).into_owned();
        let title = dom.split("<title>").nth(1).and_then(|t| t.split("</title>").next()).unwrap_or_default();
        let seen: serde_json::Value = serde_json::from_str(title).unwrap_or_else(|e| panic!("{e}: {title}"));
        assert!(seen["charts"].as_u64().unwrap() >= charts, "{name} at {width}: {seen}");
        assert!(seen["least"].as_u64().unwrap() >= 3, "{name} at {width}: {seen}");
        assert_eq!(seen["wide"], false, "{name} at {width}: {seen}");
    }
}
