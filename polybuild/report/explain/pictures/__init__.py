"""Pictures of a region, one kind in each module, as SVG that stands alone or in a page."""
